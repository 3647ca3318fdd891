import Foundation
import Testing

/// The helpers of docker, cargo, pip and uv, and the general one, asked as those tools ask them.
@Suite struct OtherHelperTests {
    // MARK: docker

    private let docker = "docker-credential-keychain"

    @Test("docker gets what it stored for exactly that URL, and a login of another user takes the place of the former")
    func dockerRoundTrip() throws {
        try withHelpers { (tool) throws in
            func store(_ url: String, _ user: String, _ secret: String) throws -> Tool.Outcome {
                let json = try JSONSerialization.data(
                    withJSONObject: ["ServerURL": url, "Username": user, "Secret": secret])
                return try tool.helper(docker, "store", input: String(decoding: json, as: UTF8.self))
            }
            let hub = "https://index.docker.io/v1/"
            for (url, user, secret) in [(hub, "ada", "é\"\n"), ("r:5000", "ada", "x"), ("r:5000", "<token>", "y")] {
                #expect(try store(url, user, secret).status == 0)
            }
            #expect(
                try tool.helper(docker, "get", input: hub + "\n").object as? [String: String]
                    == ["ServerURL": hub, "Username": "ada", "Secret": "é\"\n"])
            #expect(
                try tool.helper(docker, "list", input: "unused").object as? [String: String] == [
                    hub: "ada", "r:5000": "<token>",
                ])
            #expect(try tool.run("get", "internet", "--server", "r:5000").text == "y")
            #expect(try tool.helper(docker, "erase", input: "r:5000").status == 0)
            for url in ["r:5000", "https://r:5000", "https://index.docker.io/v1"] {
                for operation in ["get", "erase"] {
                    let outcome = try tool.helper(docker, operation, input: url)
                    #expect(outcome.status == 1 && outcome.text == "credentials not found in native keychain\n")
                }
            }
            #expect(try tool.helper(docker, "list").object.count == 1)
        }
    }

    @Test("docker is told of its mistakes in the words that it knows, and what it sent is not repeated")
    func dockerMistakes() throws {
        try withHelpers { (tool) throws in
            #expect(try tool.helper(docker, "list").text == "{}\n")
            for (operation, input, text) in [
                ("get", " \n", "no credentials server URL"),
                ("store", #"{"Username":"u"}"#, "no credentials server URL"),
                ("store", #"{"ServerURL":"s"}"#, "no credentials username"),
            ] {
                let outcome = try tool.helper(docker, operation, input: input)
                #expect(outcome.status == 1 && outcome.text == text + "\n")
            }
            for input in [#"{"ServerURL":"s","Username":"u","Secret":"hush""#, "hush", #"["hush"]"#] {
                let outcome = try tool.helper(docker, "store", input: input)
                #expect(outcome.status == 1 && !outcome.text.contains("hush") && outcome.text.contains("JSON"))
            }
            #expect(try tool.helper(docker, "other").status == 64)
            #expect(try tool.helper(docker, "version").text.hasPrefix("docker-credential-keychain (swift-keychain) "))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    // MARK: cargo

    private let cargo = "cargo-credential-keychain"

    private func asks(_ kind: String, _ more: String = "") -> String {
        #"{"v":1,"registry":{"index-url":"sparse+https://i/"},"kind":"\#(kind)"\#(more)}"# + "\n"
    }

    @Test("cargo's requests are answered line by line, up to the end of its input")
    func cargoSession() throws {
        try withHelpers { (tool) throws in
            let input =
                asks("get", #","operation":"read""#) + asks("login", #","token":" t\n""#)
                + asks("get", #","operation":"publish","name":"n","vers":"1","cksum":"c""#) + asks("other") + "hush\n"
                + asks("logout") + asks("logout") + asks("login") + asks("get").replacing("1", with: "2")
            let outcome = try tool.helper(cargo, "--cargo-plugin", input: input)
            let lines = outcome.text.split(separator: "\n").map(String.init)
            #expect(outcome.status == 0)
            #expect(
                Array(lines.prefix(5)) == [
                    #"{"v":[1]}"#, #"{"Err":{"kind":"not-found"}}"#, #"{"Ok":{"kind":"login"}}"#,
                    #"{"Ok":{"cache":"session","kind":"get","operation_independent":true,"token":"t"}}"#,
                    #"{"Err":{"kind":"operation-not-supported"}}"#,
                ])
            #expect(lines.count == 10 && !lines[5].contains("hush"))
            #expect(lines[6] == #"{"Ok":{"kind":"logout"}}"# && lines[7] == lines[1])
            #expect([5, 8, 9].allSatisfy { lines[$0].contains(#""kind":"other","message":""#) })
            #expect(try tool.helper(cargo).status == 64)
        }
    }

    // MARK: keyring

    @Test("docker's list has what can be had without asking anybody, by the name that get knows")
    func dockerList() throws {
        try withHelpersLocked(after: { (tool) throws in
            try tool.helper(docker, "store", input: #"{"ServerURL":"r \n","Username":"u","Secret":"s"}"#)
        }) { (tool) throws in
            try tool.unlock()
            let item = [
                "--server", "p", "--account", "a", "--description", "registry credential", "--require", "passcode",
            ]
            try tool.run(words: ["add", "internet"] + item, input: Data("x".utf8))
            #expect(try tool.helper(docker, "list").text == "{\"r\":\"u\"}\n")
            #expect(try tool.helper(docker, "get", input: "r").text.contains("\"Secret\":\"s\""))
        }
    }

    @Test("keyring answers in each of the forms that pip and uv ask for")
    func keyringForms() throws {
        try withHelpers { (tool) throws in
            let url = "https://i.example/simple"
            #expect(try tool.helper("keyring", "set", url, "ada", input: "p w\n").status == 0)
            #expect(try tool.helper("keyring", "get", url, "ada").text == "p w\n")
            #expect(try tool.helper("keyring", "get", url, "--mode", "creds").text == "ada\np w\n")
            let json = try tool.helper("keyring", "--mode=creds", "--output=json", "get", url)
            #expect(json.object as? [String: String] == ["username": "ada", "password": "p w"])
            #expect(
                try tool.helper("keyring", "--output=json", "get", url, "ada").object as? [String: String] == [
                    "password": "p w"
                ])
            for words in [["get", url, "bob"], ["get", "i.example", "ada"]] {
                let none = try tool.start(
                    tool.helperDirectory.appendingPathComponent("keyring"), words, input: Data())
                #expect(none.status == 1 && none.output.isEmpty && none.errors.isEmpty)
            }
            #expect(try tool.helper("keyring", "set", url, "ada", input: "").status == 1)
            #expect(try tool.helper("keyring", "set", url, "ada", input: "new").status == 0)
            #expect(try tool.helper("keyring", "get", url, "ada").text == "new\n")
            #expect(try tool.helper("keyring", "del", url, "ada").status == 0)
            #expect(try tool.helper("keyring", "del", url, "ada").status == 1)
        }
    }

    @Test(
        "A command line that keyring does not have ends with 2",
        arguments: [
            "", "get", "get s", "set s", "get s u x", "list", "--mode", "--mode=all get s u", "--output=xml get s u",
            "--keyring-backend x get s u",
        ])
    func keyringMistakes(line: String) throws {
        try withHelpers { (tool) throws in
            let outcome = try tool.shell("keyring \(line)")
            #expect(outcome.status == 2 && outcome.output.isEmpty && outcome.errors.hasPrefix("keyring: "))
        }
    }

    // MARK: All of them

    @Test("keychain-secret prints one secret of any program, byte by byte")
    func secret() throws {
        try withHelpers { (tool) throws in
            #expect(try tool.helper("keychain-secret", "restic").status == 44)
            try tool.run("add", "generic", "--service", "restic", "--account", "a", input: Data([1, 0, 0xff, 10]))
            #expect(try tool.helper("keychain-secret", "restic").output == Data([1, 0, 0xff, 10]))
            try tool.run("add", "generic", "--service", "restic", "--account", "b", input: Data("b".utf8))
            let several = try tool.helper("keychain-secret", "restic")
            #expect(several.status == 206 && several.output.isEmpty)
            #expect(try tool.helper("keychain-secret", "restic", "b").text == "b")
            for words in [[], ["a", "b", "c"], ["--help"]] {
                #expect(
                    try tool.start(tool.helperDirectory.appendingPathComponent("keychain-secret"), words, input: Data())
                        .status == 64)
            }
        }
    }

    @Test("While locked, each tool is told so in its own way, and nothing looks like 'not found'")
    func locked() throws {
        try withHelpersLocked { (tool) throws in
            try tool.helper(docker, "store", input: #"{"ServerURL":"r","Username":"u","Secret":"s"}"#)
            try tool.helper(cargo, "--cargo-plugin", input: asks("login", #","token":"t""#))
            try tool.helper("keyring", "set", "s", "u", input: "p")
        } _: { (tool) throws in
            for operation in ["get", "erase"] {
                let outcome = try tool.helper(docker, operation, input: "r")
                #expect(outcome.status == 1 && outcome.text.contains("the keychain is locked"))
            }
            #expect(try tool.helper(docker, "list").status == 1)
            for kind in ["get", "logout"] {
                let outcome = try tool.helper(cargo, "--cargo-plugin", input: asks(kind))
                #expect(outcome.text.contains(#""kind":"other","message":"the keychain is locked"#))
            }
            for words in [["get", "s", "u"], ["del", "s", "u"]] {
                let outcome = try tool.start(
                    tool.helperDirectory.appendingPathComponent("keyring"), words, input: Data())
                #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.contains("locked"))
            }
            let secret = try tool.helper("keychain-secret", "s")
            #expect(secret.status == 36 && secret.output.isEmpty && secret.errors.contains("keychainctl unlock"))
            try tool.unlock()
            #expect(try tool.run("find", "--json").objects.count == 3)
        }
    }

    @Test("No helper gives or removes what another one stored")
    func apart() throws {
        try withHelpers { (tool) throws in
            try tool.git("store", "protocol=https", "host=r", "username=u", "password=git")
            try tool.helper("keyring", "set", "cargo-registry:sparse+https://i/", "", input: "keyring")
            #expect(try tool.helper(docker, "erase", input: "r").text.contains("not found"))
            #expect(try tool.helper(docker, "list").text == "{}\n")
            #expect(
                try tool.helper(cargo, "--cargo-plugin", input: asks("get") + asks("logout")).text.contains("Ok")
                    == false)
            #expect(try tool.run("find", "--json").objects.count == 2)
        }
    }

    @Test("The executable by its own name takes a helper's name as its first argument, or lists them")
    func ownName() throws {
        try withHelpers { (tool) throws in
            #expect(try tool.shell("keychain-helper docker-credential-keychain list </dev/null").text == "{}\n")
            let outcome = try tool.shell("keychain-helper")
            #expect(outcome.status == 64)
            for name in Tool.helperNames { #expect(outcome.errors.contains(name)) }
        }
    }

    @Test("A helper understands no command line of keychainctl, whose executable it is", arguments: Tool.helperNames)
    func onlyHelper(name: String) throws {
        try withHelpers { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("hunter2".utf8))
            for words in ["--version", "status", "find", "get generic --service s --account a"] {
                let outcome = try tool.shell("\(name) \(words) </dev/null")
                let command = try tool.shell("$K \(words) </dev/null")
                #expect(command.status == 0 && outcome.text != command.text, "\(name) \(words)")
                #expect(!outcome.text.contains("hunter2"))
            }
        }
    }

    @Test("A helper works under another allocator, whose memory it must give back to it")
    func otherAllocator() throws {
        try withHelpers { (tool) throws in
            let outcome = try tool.shell(
                "LD_PRELOAD=libc_malloc_debug.so.0 MALLOC_CHECK_=3 docker-credential-keychain list </dev/null")
            #expect(outcome.text == "{}\n")
        }
    }
}
