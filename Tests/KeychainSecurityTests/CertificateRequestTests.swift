import Foundation
import KeychainCertificates
import KeychainCrypto
import KeychainKeys
import KeychainModel
import KeychainTestSupport
import Testing

/// Requests for certificates, which OpenSSL reads.
struct CertificateRequestTests {
    private func request(
        _ subject: String, _ names: [RequestedAlternativeName] = [], _ key: AsymmetricKey
    ) throws -> Data {
        let request = try CertificateRequest(subject: RequestedName(subject), alternativeNames: names, key: key)
        let signature: Data
        switch key {
        case .rsa(let key): signature = try key.sign(request.content, request.algorithm)
        case .ec(let key): signature = try key.sign(request.content, request.algorithm)
        }
        return try request.der(signature: signature)
    }

    private func text(of request: Data) throws -> String {
        let words = [
            "req", "-inform", "DER", "-in", "in", "-noout", "-verify", "-text", "-nameopt", "RFC2253,utf8,-esc_msb",
        ]
        return String(decoding: try OpenSSL.output(words, ["in": request]), as: UTF8.self)
    }

    @Test(
        "OpenSSL verifies the request of a key of each kind",
        arguments: [(AsymmetricKey.Kind.rsa, 2048), (.ec, 256), (.ec, 384), (.ec, 521)] as [(AsymmetricKey.Kind, Int)])
    func kinds(kind: AsymmetricKey.Kind, bitCount: Int) throws {
        let key = try AsymmetricKey(generating: kind, bitCount: bitCount)
        #expect(try text(of: request("/CN=host.example", [], key)).contains("Subject: CN=host.example"))
    }

    @Test("A subject and names of each kind come out as they went in")
    func names() throws {
        let key = try AsymmetricKey(generating: .ec, bitCount: 256)
        let names = try [
            RequestedAlternativeName(host: "*.example.org"), .init(address: "192.0.2.1"), .init(address: "2001:db8::1"),
            .init(mailAddress: "me@example.org"),
        ]
        let subject = "/C=CH/O=Ex\\/ample\\\\/OU=Zürich/emailAddress=me@example.org/2.5.4.3=host"
        let text = try text(of: request(subject, names, key))
        #expect(text.contains("CN=host,emailAddress=me@example.org,OU=Zürich,O=Ex/ample\\\\,C=CH"))
        #expect(
            text.contains(
                "DNS:*.example.org, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1, email:me@example.org"))
    }

    @Test(
        "What is no subject is refused",
        arguments: [
            "CN=host", "/", "/CN", "/CN=", "/X=1", "/C=Switzerland", "/DC=zürich", "/CN=a\\", "//CN=a", "/9.9=a",
        ])
    func subjects(text: String) {
        let error = #expect(throws: KeychainError.self) { try RequestedName(text) }
        #expect(error?.code == .parameter)
    }

    @Test("What is no host, address or mail address is refused")
    func alternatives() {
        for host in ["", "a b", "zürich.example", "a..b", "*", "a.*.b", String(repeating: "a", count: 64)] {
            #expect(throws: KeychainError.self, "\(host)") { try RequestedAlternativeName(host: host) }
        }
        for address in ["", "1.2.3", "1.2.3.256", "::g", "host"] {
            #expect(throws: KeychainError.self, "\(address)") { try RequestedAlternativeName(address: address) }
        }
        for address in ["", "me", "me@", "@host", "mé@host", "a b@host"] {
            #expect(throws: KeychainError.self, "\(address)") { try RequestedAlternativeName(mailAddress: address) }
        }
    }
}
