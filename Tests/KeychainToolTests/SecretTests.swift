import Foundation
import KeychainTestSupport
import Testing

@Suite struct SecretTests {
    @Test(
        "Standard input comes back byte for byte",
        arguments: [
            Data(), Data([0]), Data("line\n".utf8), Data("two\n\n".utf8), Data([0xff, 0xfe, 0x00, 0xc3, 0x28]),
        ])
    func roundTrip(secret: Data) throws { try expectRoundTrip(secret) }

    @Test(
        "An empty input is no secret: what is stored stays as it is",
        arguments: [
            "add generic --service new --account a", "add generic --service s --account a --update",
            "update generic --service s", "update generic --service s --secret --set-label l",
        ])
    func empty(command: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("precious".utf8))
            for line in ["$K \(command) </dev/null", "false | $K \(command)"] {
                let outcome = try tool.shell(line)
                #expect(outcome.status == 206)
                #expect(
                    outcome.errors
                        == "keychainctl: standard input is empty; nothing was changed. For an empty secret add "
                        + "--allow-empty\n")
            }
            #expect(try tool.run("get", "generic", "--service", "s").text == "precious")
            #expect(try tool.run("find", "generic", "--json").objects.count == 1)
            let found = try tool.run("find", "generic", "--json").objects.first?["attributes"] as? [String: Any]
            #expect(found?["label"] as? String != "l")
            #expect(try tool.shell("$K \(command) --allow-empty </dev/null").status == 0)
        }
    }

    @Test("So do 20 MB") func large() throws {
        var generator = SeededGenerator()
        try expectRoundTrip(generator.bytes(20_000_000))
    }

    private func expectRoundTrip(_ secret: Data) throws {
        try withTool { (tool) throws in
            let added = try tool.run(
                "add", "generic", "--service", "s", "--account", "a", "--allow-empty", input: secret)
            #expect(added.status == 0)
            #expect(added.output.isEmpty)
            let got = try tool.run("get", "generic", "--service", "s", "--account", "a")
            #expect(got.status == 0)
            #expect(got.output == secret)
            #expect(got.errors.isEmpty)
        }
    }

    @Test("More than 64 MiB is refused, and no store is made")
    func tooLarge() throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell("head -c 67108865 /dev/zero | $K add generic --service s --account a")
            #expect(outcome.status == 42)
            #expect(outcome.errors.hasPrefix("keychainctl: "))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("A program's item without a secret is an error to 'get', not an empty secret")
    func noSecret() throws {
        try withTool { (tool) throws in
            try tool.asApp(["app"], .add(secret: nil))
            let outcome = try tool.run("get", "generic", "--service", "s")
            #expect(outcome.status == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors == "keychainctl: the generic password has no secret: it was added without one\n")
        }
    }

    @Test("What a program stores, the owner's command reads")
    func readsProgramsItems() throws {
        try withTool { (tool) throws in
            try tool.asApp(["com.example.app"], .add(secret: "from the program"))
            #expect(try tool.run("get", "generic", "--service", "s").text == "from the program")
        }
    }

    @Test("An internet password is found by protocol and port, and no secret is on the command line or in a listing")
    func internetPassword() throws {
        try withTool { (tool) throws in
            let added = try tool.run(
                "add", "internet", "--server", "h", "--account", "a", "--protocol", "https", "--port", "443",
                "--path", "/x", "--json", input: Data("hunter2".utf8))
            #expect(added.status == 0)
            #expect(!added.text.contains("hunter2"))
            let found = try tool.run("find", "--protocol", "https", "--port", "443", "--json")
            let attributes = found.objects.first?["attributes"] as? [String: Any]
            #expect(attributes?["protocol"] as? String == "https")
            #expect(attributes?["port"] as? Int == 443)
            #expect(!found.text.contains("hunter2"))
            #expect(try tool.run("get", "internet", "--protocol", "https").text == "hunter2")
            #expect(try tool.run("get", "internet", "--port", "80").status == 44)
        }
    }
}
