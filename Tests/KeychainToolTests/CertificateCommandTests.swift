import Foundation
import KeychainTestSupport
import Testing

/// Certificates and identities in files of other programs, which go in by `add` and come out by `get`.
@Suite struct CertificateCommandTests {
    private let key: Data
    private let issuerKey: Data
    private let issuer: Data

    init() throws {
        func makeKey() throws -> Data {
            try OpenSSL.output(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-outform", "DER"])
        }
        (key, issuerKey) = (try makeKey(), try makeKey())
        issuer = try OpenSSL.certificate("/CN=issuer", key: issuerKey, days: 3650)
    }

    private func leaf(days: Int = 365, serial: Int = 7) throws -> Data {
        try OpenSSL.certificate(
            "/CN=leaf", key: key, extensions: ["subjectAltName=DNS:leaf.example"], issuer: (issuer, issuerKey),
            serial: serial, days: days)
    }

    private func pkcs12(_ passphrase: String = "open") throws -> Data {
        try OpenSSL.pkcs12(key: key, certificates: [try leaf(), issuer], passphrase: passphrase)
    }

    private var pemOfKey: Data {
        get throws { try OpenSSL.output(["pkey", "-inform", "DER", "-in", "in"], ["in": key]) }
    }

    @Test("A PKCS#12 file goes in whole, twice, and comes out in forms that OpenSSL reads")
    func pkcs12File() throws {
        try withTool { (tool) throws in
            let file = try tool.file("client.p12", try pkcs12())
            let added = try tool.run("add", "identity", file, "--tag", "tls", "--json", input: Data("open\n".utf8))
            #expect(added.status == 0 && added.errors.isEmpty)
            #expect(added.objects.compactMap { $0["added"] as? Bool } == [true, true, true])
            #expect(added.objects.compactMap { $0["class"] as? String } == ["key", "certificate", "certificate"])
            let again = try tool.run("add", "identity", file, "--tag", "tls", "--json", input: Data("open".utf8))
            #expect(again.status == 0)
            #expect(again.objects.compactMap { $0["added"] as? Bool } == [false, false, false])
            #expect(again.errors.contains("the certificate leaf was there already"))
            let pem = try tool.run("get", "identity", "--format", "pem")
            #expect(pem.text.components(separatedBy: "BEGIN CERTIFICATE").count == 3)
            let pemOfKey = try pemOfKey
            #expect(pem.output.suffix(pemOfKey.count) == pemOfKey)
            let written = try tool.run("get", "identity", "--format", "pkcs12", input: Data("new\nnew\n".utf8))
            let text = try OpenSSL.output(
                ["pkcs12", "-in", "in", "-passin", "pass:new", "-nodes"], ["in": written.output])
            #expect(String(decoding: text, as: UTF8.self).contains("subject=CN = leaf"))
            let certificate = try tool.run("get", "certificate", "--label", "issuer")
            #expect(certificate.output == issuer)
            let asPEM = try tool.run("get", "certificate", "--label", "issuer", "--format", "pem")
            #expect(asPEM.text == OpenSSL.pem("CERTIFICATE", issuer))
        }
    }

    @Test("A wrong passphrase, a missing one and a damaged file change nothing")
    func refused() throws {
        try withTool { (tool) throws in
            let file = try tool.file("client.p12", try pkcs12())
            let wrong = try tool.run("add", "identity", file, input: Data("secret words\n".utf8))
            #expect(wrong.status == 51)
            #expect(
                !wrong.errors.contains("secret words") && wrong.errors.contains("client.p12: the passphrase is wrong"))
            #expect(try tool.run("add", "identity", file, input: Data("two\nlines\n".utf8)).status == 206)
            #expect(try tool.run(words: ["add", "identity", file]).status == 206)
            #expect(try tool.run("add", "identity", "-", input: try pkcs12()).status == 206)
            let cut = try tool.file("cut.p12", Data(try pkcs12().prefix(500)))
            #expect(try tool.run("add", "certificate", cut, input: Data("open".utf8)).status == 93)
            #expect(try tool.run("add", "certificate", tool.home.appending(path: "none").path).status != 0)
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("The passphrase may be in a file, and then the PKCS#12 file may be standard input")
    func passphraseFile() throws {
        try withTool { (tool) throws in
            let passphrase = try tool.file("passphrase", Data("open\n".utf8))
            let added = try tool.run("add", "identity", "-", "--passphrase-file", passphrase, input: try pkcs12())
            #expect(added.status == 0)
            let written = try tool.run("get", "identity", "--format", "pkcs12", "--passphrase-file", passphrase)
            #expect(
                try tool.run("add", "identity", "-", "--passphrase-file", passphrase, input: written.output).status == 0
            )
            #expect(try tool.run("find", "certificate", "--json").objects.count == 2)
        }
    }

    @Test("Key and certificate may be in two files, or in one text, with a passphrase or without")
    func texts() throws {
        try withTool { (tool) throws in
            let certificate = OpenSSL.pem("CERTIFICATE", try leaf())
            let files = [
                try tool.file("leaf.pem", Data(certificate.utf8)), try tool.file("leaf.key", try pemOfKey),
                try tool.file("both.pem", try pemOfKey + Data(certificate.utf8)),
                try tool.file(
                    "sealed.key",
                    try OpenSSL.output(
                        ["pkcs8", "-topk8", "-inform", "DER", "-in", "in", "-passout", "pass:open"], ["in": key])),
            ]
            #expect(try tool.run("add", "identity", files[0], files[1], "--group", "a").status == 0)
            #expect(try tool.run("add", "identity", files[2], "--group", "b").status == 0)
            let sealed = try tool.run(
                "add", "identity", files[0], files[3], "--group", "c", input: Data("open".utf8))
            #expect(sealed.status == 0)
            #expect(try tool.run("find", "key", "--json").objects.count == 3)
            #expect(try tool.run("find", "certificate", "--json").objects.count == 3)
            #expect(try tool.run("add", "identity", files[0]).status == 206)
            #expect(try tool.run("add", "identity", files[1]).status == 206)
            #expect(try tool.run("add", "certificate", files[1]).status == 206)
            let alone = try tool.run("add", "certificate", files[2], "--group", "d")
            #expect(alone.status == 0 && alone.errors.contains("keys in the files are not stored"))
            #expect(try tool.run("find", "key", "--group", "d").status == 44)
        }
    }

    @Test("Two keys of one certificate are two identities, and what means one of them is refused")
    func twoIdentities() throws {
        try withTool { (tool) throws in
            let certificate = Data(OpenSSL.pem("CERTIFICATE", try leaf()).utf8)
            let file = try tool.file("both.pem", try pemOfKey + certificate)
            for tag in ["me", "other"] {
                #expect(try tool.run("add", "identity", file, "--tag", tag).status == 0)
            }
            #expect(try tool.run("find", "key", "--json").objects.count == 2)
            #expect(try tool.run("get", "identity", "--format", "pem").status == 206)
            #expect(try tool.run("get", "identity", "--format", "pem", "--tag", "me").status == 0)
        }
    }

    @Test("All files of one call go in, or none")
    func together() throws {
        try withTool { (tool) throws in
            let good = try tool.file("good", try leaf())
            let bad = try tool.file("bad", Data("bad".utf8))
            #expect(try tool.run("add", "certificate", good, bad).status == 93)
            #expect(try tool.run("find", "certificate").status == 44)
            let list = try OpenSSL.output(
                ["crl2pkcs7", "-nocrl", "-certfile", "in"],
                ["in": Data((OpenSSL.pem("CERTIFICATE", try leaf()) + OpenSSL.pem("CERTIFICATE", issuer)).utf8)])
            #expect(try tool.run("add", "certificate", good, try tool.file("list", list), "--label", "L").status == 0)
            #expect(try tool.run("find", "certificate", "--label", "L", "--json").objects.count == 2)
        }
    }

    @Test("What has expired or is about to is shown by find and by doctor")
    func expiring() throws {
        try withTool { (tool) throws in
            try tool.run("add", "certificate", try tool.file("long", issuer))
            #expect(try tool.run("find", "certificate", "--expiring", "30d").status == 44)
            #expect(try !tool.run("find", "certificate").text.contains("EXPIRES"))
            try tool.run("add", "certificate", try tool.file("soon", try leaf(days: 20)))
            try tool.run("add", "certificate", try tool.file("past", try leaf(days: -1, serial: 8)))
            let found = try tool.run("find", "--expiring", "30d", "--json").objects
            #expect(Set(found.compactMap { $0["validity"] as? String }) == ["expiring", "expired"])
            #expect(found.allSatisfy { $0["notAfter"] is String })
            #expect(try tool.run("find", "certificate", "--expiring", "5d", "--json").objects.count == 1)
            let all = try tool.run("find", "certificate", "--json").objects
            #expect(all.compactMap { $0["validity"] as? String }.sorted() == ["expired", "expiring", "valid"])
            let table = try tool.run("find", "certificate").text
            #expect(table.contains("expired 20") && table.contains("expires 20"))
            let doctor = try tool.run("doctor")
            #expect(doctor.status == 0 && doctor.text.contains("the certificate leaf expired"))
            #expect(try tool.run("find", "generic", "--expiring", "30d").status == 64)
        }
    }

    @Test("A key of the keychain, one in the engine too, signs a request that OpenSSL verifies")
    func request() throws {
        try withTool { (tool) throws in
            for options in [["--type", "rsa2048"], ["--type", "ec384"], ["--in-engine"]] {
                let tag = "tag" + options.joined()
                try tool.run(words: ["key", "generate", "--tag", tag] + options)
                let request = try tool.run(
                    "key", "csr", "--tag", tag, "--subject", "/C=CH/CN=host", "--dns", "host.example", "--ip", "::1",
                    "--email", "me@example.org")
                #expect(request.status == 0)
                let words = ["req", "-in", "in", "-noout", "-verify", "-text"]
                let text = String(decoding: try OpenSSL.output(words, ["in": request.output]), as: UTF8.self)
                #expect(text.contains("DNS:host.example, IP Address:0:0:0:0:0:0:0:1, email:me@example.org"))
                let json = try tool.run("key", "csr", "--tag", tag, "--subject", "/CN=host", "--json").object
                #expect((json["request"] as? String)?.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----") == true)
            }
            #expect(try tool.run("key", "csr", "--tag", "none", "--subject", "/CN=host").status == 44)
            #expect(try tool.run("key", "csr", "--tag", "tag--in-engine").status == 64)
            #expect(try tool.run("key", "csr", "--tag=tag--in-engine", "--subject", "host").status == 206)
        }
    }

    @Test("An identity whose key is in the engine is never written")
    func engineKey() throws {
        try withTool { (tool) throws in
            try tool.run("key", "generate", "--tag", "e", "--in-engine")
            let publicKey = try tool.run("get", "key", "--tag", "e", "--format", "spki").output
            let certificate = try OpenSSL.certificate(
                forPublicKey: publicKey, "/CN=engine", issuer: (issuer, issuerKey))
            #expect(try tool.run("add", "certificate", try tool.file("engine", certificate)).status == 0)
            for form in ["pem", "pkcs12"] {
                let got = try tool.run("get", "identity", "--format", form, input: Data("p\np\n".utf8))
                #expect(got.status == 252 && got.output.isEmpty)
                #expect(got.errors.contains("the key is kept in the engine"))
            }
        }
    }

    @Test("Forms that an item does not have are mistakes on the command line")
    func forms() throws {
        try withTool { (tool) throws in
            for words in [
                ["get", "identity"], ["get", "identity", "--format", "der"], ["get", "certificate", "--format", "jwk"],
                ["get", "key", "--format", "pkcs12"], ["get", "generic", "--format", "pem"],
                ["get", "certificate", "--public"], ["get", "certificate", "--passphrase-file", "f"],
                ["add", "certificate"], ["add", "identity", "-", "-"], ["add", "identity", ""],
            ] { #expect(try tool.run(words: words).status == 64, "\(words)") }
        }
    }
}
