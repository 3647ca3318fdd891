import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// TR: trust, as far as it is about the host of a certificate.
struct TR11HostTests {
    private typealias Name = CertificateExtensionRecipe.Name

    private func isFor(_ host: String, _ names: [CertificateExtensionRecipe.Name], subject: String = "leaf") throws
        -> Bool
    {
        let chain = TestChain {
            $0.leaf.subject = subject
            $0.leaf.extensions = (names.isEmpty ? [] : [.names(names)]) + [.server]
        }
        let verdict = try chain.verdict(.server(host))
        #expect(verdict == .trusted(3) || verdict == .failed(errSecHostNameMismatch))
        return verdict.status == 0
    }

    @Test(
        "TR.11 A host is for a certificate whose alternative names have it",
        arguments: [
            ("a.host.example", "a.host.example", true), ("A.Host.EXAMPLE", "a.hOST.example", true),
            ("a.host.example.", "a.host.example", true), (".a.host.example", "a.host.example", false),
            ("a.host.example..", "a.host.example", false), ("a.host.example", "a.host.example.", false),
            ("a.host.example", "b.host.example", false), ("host.example", "a.host.example", false),
            ("", "", false), ("host", "host", true),
            // Wildcards.
            ("good.host.example", "*.host.example", true), ("host.example", "*.host.example", false),
            ("a.b.host.example", "*.host.example", false), ("host.com", "*.com", false),
            ("host.co.uk", "*.co.uk", false),
            ("a.host.co.uk", "*.host.co.uk", true), ("test.host.example", "t*t.host.example", false),
            ("apple1.example", "apple*.example", false), ("a.b.host.example", "*.*.host.example", false),
            ("test.a.host.example", "test.*.host.example", false), ("*.host.example", "*.host.example", false),
            ("a.host.example", "*", false), ("a.host.example", "*.", false), (".host.example", "*.host.example", false),
            // What a name looks like.
            ("a_b.host.example", "a_b.host.example", true), ("xn--bcher-kva.example", "XN--bcher-kva.example", true),
            ("bücher.example", "xn--bcher-kva.example", false), ("a b.example", "a b.example", false),
            ("host.1", "host.1", false), ("127.0.0.1", "127.0.0.1", false), ("::1", "::1", false),
            (String(repeating: "a", count: 63) + ".example", String(repeating: "a", count: 63) + ".example", true),
            (String(repeating: "a", count: 64) + ".example", String(repeating: "a", count: 64) + ".example", false),
        ])
    func names(host: String, name: String, isRight: Bool) throws {
        #expect(try isFor(host, [.host(name)]) == isRight)
    }

    @Test("TR.11 A common name is no host")
    func commonName() throws {
        #expect(try !isFor("leaf.example", [], subject: "leaf.example"))
        #expect(try !isFor("leaf.example", [.host("other.example")], subject: "leaf.example"))
        #expect(try isFor("leaf.example", [.host("other.example"), .host("leaf.example")], subject: "other.example"))
    }

    @Test("TR.12 An address is compared as its bytes, and only with addresses")
    func addresses() throws {
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        #expect(try isFor("127.0.0.1", [.address([127, 0, 0, 1])]))
        #expect(try !isFor("127.0.0.2", [.address([127, 0, 0, 1])]))
        for spelling in ["::1", "0:0:0:0:0:0:0:1", "0000::0001"] { #expect(try isFor(spelling, [.address(loopback)])) }
        #expect(try !isFor("127.0.0.1", [.host("127.0.0.1")], subject: "127.0.0.1"))
        #expect(try !isFor("127.0.0.1", [.address(loopback)]))
        #expect(try !isFor("localhost", [.address([127, 0, 0, 1])]))
        #expect(try !isFor("127.0.0.1\0.other.example", [.address([127, 0, 0, 1])]))
    }

    @Test("TR.11 A client's certificate is looked at for the host as well")
    func client() throws {
        let chain = TestChain { $0.leaf.extensions = [.names([.host("leaf.example")]), .client] }
        #expect(try chain.verdict(SecPolicyCreateSSL(false, "leaf.example")) == .trusted(3))
        #expect(try chain.verdict(SecPolicyCreateSSL(false, "x.example")) == .failed(errSecHostNameMismatch))
    }
}
