import Foundation
import KeychainTestSupport
import Testing

/// `trust` with the system's roots, with others, and with authorities in the keychain.
@Suite struct TrustCommandTests {
    private let key: Data

    init() throws {
        key = try OpenSSL.output(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-outform", "DER"])
    }

    private func pem(_ der: Data) -> Data {
        let base64 = der.base64EncodedString(options: .lineLength64Characters)
        return Data("-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n".utf8)
    }

    /// A root, an authority and a leaf for `leaf.example`, valid for a year.
    private func chain() throws -> (root: Data, authority: Data, leaf: Data) {
        let root = try OpenSSL.certificate("/CN=root", key: key)
        let authority = try OpenSSL.certificate(
            "/CN=authority", key: key, extensions: ["basicConstraints=critical,CA:TRUE"], issuer: (root, key), serial: 2
        )
        let leaf = try OpenSSL.certificate(
            "/CN=leaf\u{1b}[31m", key: key,
            extensions: ["subjectAltName=DNS:leaf.example", "extendedKeyUsage=serverAuth"], issuer: (authority, key),
            serial: 3)
        return (root, authority, leaf)
    }

    @Test("A chain is judged, with its reasons, and nothing of the terminal's is in them")
    func judges() throws {
        try withTool { (tool) throws in
            let (root, authority, leaf) = try chain()
            let file = try tool.file("chain.pem", pem(leaf) + pem(authority))
            let anchor = try tool.file("root.pem", pem(root))
            let trusted = try tool.run("trust", file, "--anchor", anchor, "--host", "leaf.example")
            #expect(trusted.status == 0 && trusted.text.contains("is trusted for leaf.example:\n"))
            #expect(!trusted.text.contains("\u{1b}") && trusted.errors.isEmpty)
            let other = try tool.run("trust", file, "--anchor", anchor, "--host", "other.example")
            #expect(other.status == 253 && other.errors.contains("is for other hosts"))
            let late = try tool.run("trust", file, "--anchor", anchor, "--at", "2100-01-01", "--json")
            #expect(late.status == 253 && late.object["trusted"] as? Bool == false)
            #expect((late.object["chain"] as? [[String: Any]])?.count == 3)
            let client = try tool.run("trust", file, "--anchor", anchor, "--client")
            #expect(client.status == 253)
            let unknown = try tool.run("trust", file, "--host", "leaf.example")
            #expect(unknown.status == 253 && unknown.errors.contains("was not found"))
            // Nothing of this makes a store.
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("An authority may be in the keychain, and the system's roots are where the environment says")
    func stored() throws {
        try withTool { (tool) throws in
            let (root, authority, leaf) = try chain()
            let file = try tool.file("leaf.der", leaf)
            let anchor = try tool.file("root.pem", pem(root))
            #expect(try tool.run("trust", file, "--anchor", anchor).status == 253)
            let added = try tool.run("add", "certificate", try tool.file("authority.der", authority))
            #expect(added.status == 0)
            #expect(try tool.run("trust", file, "--anchor", anchor).status == 0)
            let system = try tool.shell("SSL_CERT_FILE='\(anchor)' \"$K\" trust '\(file)' --host leaf.example")
            #expect(system.status == 0)
        }
    }

    @Test("What is no certificate, and what does not go together, is refused")
    func refused() throws {
        try withTool { (tool) throws in
            let (_, _, leaf) = try chain()
            let file = try tool.file("leaf.der", leaf)
            #expect(try tool.run("trust", try tool.file("text", Data("text".utf8))).status == 93)
            #expect(try tool.run("trust", file, "--anchor", try tool.file("key", key)).status != 0)
            #expect(try tool.run("trust", file, "--host", "h", "--client").status == 64)
            #expect(try tool.run("trust", file, "--anchor", "-").status == 64)
            #expect(try tool.run("trust", file, "--at", "soon").status == 64)
            #expect(try tool.run("trust", tool.path("missing")).status == 220)
        }
    }
}
