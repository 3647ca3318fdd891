import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

/// Keys in files of other programs, which go in by `add key` and come out by `get key`.
@Suite struct KeyFileCommandTests {
    private struct Fixtures: Decodable {
        struct Key: Decodable {
            let name: String
            let `private`: [String: Data]
            let `public`: [String: Data]
            let encrypted: [String: Data]
        }
        let keys: [Key]
        let refused: [String: Data]
    }

    private let fixtures: Fixtures

    init() throws {
        fixtures = try JSONDecoder().decode(
            Fixtures.self, from: Data(contentsOf: Repository.file("Tests/Vectors/key-files.json")))
    }

    @Test("A key comes out as it went in, in whichever form")
    func forms() throws {
        try withTool { (tool) throws in
            for key in fixtures.keys {
                for name in ["pkcs8.pem", "traditional.der"] {
                    let file = try tool.file(name, key.private[name]!)
                    let added = try tool.run("add", "key", file, "--tag", key.name + name, "--label", "L", "--json")
                    #expect(added.status == 0)
                    let attributes = added.object["attributes"] as? [String: Any]
                    #expect(attributes?["keyClass"] as? Int == 1)
                    #expect(attributes?["applicationTag"] as? String == key.name + name)
                    for (format, content) in [("pem", "pkcs8.pem"), ("der", "pkcs8.der")] {
                        let got = try tool.run("get", "key", "--tag", key.name + name, "--format", format)
                        #expect(got.output == key.private[content])
                    }
                    let half = try tool.run("get", "key", "--tag", key.name + name, "--format", "spki")
                    #expect(half.output == key.public["spki.der"])
                }
                let raw = try tool.run("get", "key", "--tag", key.name + "pkcs8.pem")
                #expect(try tool.run("add", "key", "--tag", key.name + "raw", input: raw.output).status == 0)
                #expect(try tool.run("get", "key", "--tag", key.name + "raw").output == raw.output)
            }
        }
    }

    @Test("A passphrase is a line of standard input, a wrong one changes nothing, and no message has it")
    func passphrase() throws {
        try withTool { (tool) throws in
            let key = fixtures.keys[2]
            let file = try tool.file("key", key.encrypted["aes256-sha256"]!)
            let wrong = try tool.run("add", "key", file, "--tag", "t", input: Data("mistaken\n".utf8))
            #expect(wrong.status == 51)
            #expect(wrong.errors == "keychainctl: the passphrase is wrong, or the file of the key is damaged\n")
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
            let several = try tool.run("add", "key", file, "--tag", "t", input: Data("mistaken\nopen sesame\n".utf8))
            #expect(several.status == 206)
            #expect(!several.errors.contains("mistaken"))
            #expect(try tool.run("add", "key", file, "--tag", "t", input: Data("open sesame\n".utf8)).status == 0)
            #expect(try tool.run("get", "key", "--tag", "t", "--format", "pem").output == key.private["pkcs8.pem"])
            let input = try tool.run("add", "key", "-", "--tag", "u", input: key.encrypted["scrypt"]!)
            #expect(input.status == 206)
            #expect(input.errors.contains("name the key's file"))
        }
    }

    @Test("What is no key that is taken here makes no store")
    func refused() throws {
        try withTool { (tool) throws in
            for (words, content) in fixtures.refused {
                let outcome = try tool.run("add", "key", try tool.file("key", content), "--tag", "t")
                #expect(outcome.status == 206)
                #expect(outcome.errors.replacing("\n  ", with: " ").contains(words), "\(words): \(outcome.errors)")
            }
            #expect(try tool.run("add", "key", "--tag", "t", input: Data("no key".utf8)).status == 93)
            #expect(try tool.run("add", "key", tool.path("missing"), "--tag", "t").status == 220)
            #expect(try tool.run("add", "key", "--tag", "t", input: Data(count: 2 << 20)).status == 42)
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("The same key with the same tag is refused as a duplicate")
    func duplicate() throws {
        try withTool { (tool) throws in
            let file = try tool.file("key", fixtures.keys[2].private["pkcs8.pem"]!)
            #expect(try tool.run("add", "key", file, "--tag", "t").status == 0)
            #expect(try tool.run("add", "key", file, "--tag", "t").status == 45)
            #expect(try tool.run("add", "key", file, "--tag", "u").status == 0)
        }
    }

    @Test("A form is for keys alone, and one that does not exist is a mistake on the command line")
    func usage() throws {
        try withTool { (tool) throws in
            #expect(try tool.run("get", "generic", "--format", "pem").status == 64)
            #expect(try tool.run("get", "certificate", "--public").status == 64)
            #expect(try tool.run("get", "key", "--format", "p12").status == 64)
            #expect(try tool.run("add", "key").status == 64)
            #expect(try tool.run("add", "key", "", "--tag", "t").status == 64)
            #expect(try tool.run("add", "key", "--tag", "").status == 64)
        }
    }

    @Test("An item of another program whose bytes are no key is read only as it is")
    func noKey() throws {
        try withTool { (tool) throws in
            try tool.asApp(["app"], .addKey(tag: "t", bytes: Data("no key".utf8)))
            #expect(try tool.run("get", "key", "--tag", "t").text == "no key")
            #expect(try tool.run("get", "key", "--tag", "t", "--format", "pem").status == 93)
        }
    }
}

extension Request {
    /// A private key as a program stores it, whatever its bytes are.
    fileprivate static func addKey(tag: String, bytes: Data) -> Request {
        var request = AddRequest(.key)
        request.attributes[.applicationTag] = .text(tag)
        request.attributes[.keyClass] = .number(1)
        request.attributes[.type] = .number(73)
        request.secret = SecretBytes(copying: bytes)
        return .add(request)
    }
}
