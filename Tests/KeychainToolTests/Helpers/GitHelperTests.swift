import Foundation
import KeychainModel
import Testing

/// git's credential helper, asked as git asks it.
@Suite struct GitHelperTests {

    @Test("A credential that git stores is found again, and one of another protocol, host, port, path or user is not")
    func roundTrip() throws {
        try withHelpers { (tool) throws in
            let stored = try tool.git(
                "store", "protocol=https", "host=h:8443", "path=a.git", "username=ada", "password=p=q ")
            #expect(stored.status == 0 && stored.output.isEmpty && stored.errors.isEmpty)
            for lines in [["path=a.git"], ["username=ada"], []] {
                let found = try tool.shell(
                    "printf '%s\\n' protocol=https host=h:8443 \(lines.joined(separator: " ")) | git-credential-keychain get"
                )
                #expect(found.text == "username=ada\npassword=p=q \n")
            }
            for lines in [
                "protocol=http host=h:8443", "protocol=https host=h", "protocol=https host=g:8443",
                "protocol=https host=h:8443 path=b.git", "protocol=https host=h:8443 username=bob",
                "protocol=htps host=h:8443", "protocol=https", "host=h:8443", "protocol=https host=",
            ] {
                let found = try tool.shell("printf '%s\\n' \(lines) | git-credential-keychain get")
                #expect(found.output.isEmpty && found.errors.isEmpty && found.status == 0, "\(lines)")
            }
        }
    }

    @Test("A look-up makes no keychain")
    func makesNoStore() throws {
        try withHelpers { (tool) throws in
            #expect(try tool.git("get", "protocol=https", "host=h").status == 0)
            #expect(try tool.git("erase", "protocol=https", "host=h").status == 0)
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("Expiry date and refresh token come back, and a plain password is stored as it is")
    func moreThanAPassword() throws {
        try withHelpers { (tool) throws in
            try tool.git("store", "protocol=https", "host=h", "username=a", "password=plain")
            #expect(try tool.run("get", "internet", "--server", "h").text == "plain")
            try tool.git(
                "store", "protocol=https", "host=h", "username=a", "password=token",
                "password_expiry_utc=4102444800", "oauth_refresh_token=again", "unknown=ignored", "wwwauth[]=Basic",
                "state[]=other:1")
            #expect(
                try tool.git("get", "protocol=https", "host=h").text
                    == "username=a\npassword=token\npassword_expiry_utc=4102444800\noauth_refresh_token=again\n")
        }
    }

    @Test("A credential with a scheme of its own goes only to a git that understands it")
    func authenticationScheme() throws {
        try withHelpers { (tool) throws in
            try tool.git("store", "protocol=https", "host=h", "authtype=Bearer", "credential=abc", "ephemeral=1")
            #expect(try tool.git("get", "capability[]=authtype", "protocol=https", "host=h").output.isEmpty)
            try tool.git("store", "protocol=https", "host=h", "authtype=Bearer", "credential=abc")
            #expect(try tool.git("get", "protocol=https", "host=h").output.isEmpty)
            #expect(
                try tool.git("get", "capability[]=authtype", "capability[]=", "protocol=https", "host=h").output.isEmpty
            )
            #expect(
                try tool.git("get", "capability[]=authtype", "capability[]=state", "protocol=https", "host=h").text
                    == "capability[]=authtype\nauthtype=Bearer\ncredential=abc\n")
            #expect(try tool.git("capability").text == "version 0\ncapability authtype\n")
        }
    }

    @Test(
        "Of several users the one who was stored last is given, and the one of the whole server before those of a path")
    func several() throws {
        try withHelpers { (tool) throws in
            for user in ["one", "two"] {
                try tool.git("store", "protocol=https", "host=h", "username=\(user)", "password=p")
            }
            try tool.git("store", "protocol=https", "host=h", "path=x", "username=three", "password=p")
            #expect(try tool.git("get", "protocol=https", "host=h").text.hasPrefix("username=two\n"))
            #expect(try tool.git("get", "protocol=https", "host=h", "path=x").text.hasPrefix("username=three\n"))
        }
    }

    @Test("A password that is there already is not written again, and a new one takes its place")
    func storesOnce() throws {
        try withHelpers { (tool) throws in
            func date() throws -> String? { try tool.run("find", "--json").objects.first?["modified"] as? String }
            try tool.git("store", "protocol=https", "host=h", "username=a", "password=p")
            let first = try date()
            try tool.git("store", "protocol=https", "host=h", "username=a", "password=p")
            #expect(try date() == first)
            try tool.git("store", "protocol=https", "host=h", "username=a", "password=q")
            #expect(try date() != first)
            #expect(try tool.run("find", "--json").objects.count == 1)
        }
    }

    @Test(
        "What is erased is what was named: with a password only an item that has it, and never what another program stored"
    )
    func erases() throws {
        try withHelpers { (tool) throws in
            for user in ["one", "two"] {
                try tool.git("store", "protocol=https", "host=h", "username=\(user)", "password=\(user)")
            }
            try tool.run(
                "add", "internet", "--server", "h", "--protocol", "https", "--account", "three",
                input: Data("mine".utf8))
            for lines in [
                ["protocol=https"], ["host=h"], ["username=one"], ["protocol=https", "host="],
                ["protocol=https", "host=h", "password=other"], ["protocol=https", "host=h", "username=three"],
                ["protocol=https", "host=h", "path=x"],
            ] {
                let input = lines.map { $0 + "\n" }.joined()
                #expect(try tool.helper("git-credential-keychain", "erase", input: input).status == 0)
                #expect(try tool.run("find", "--json").objects.count == 3, "\(lines)")
            }
            try tool.git("erase", "protocol=https", "host=h", "password=one")
            #expect(try tool.git("get", "protocol=https", "host=h", "username=one").output.isEmpty)
            try tool.git("erase", "protocol=https", "host=h")
            #expect(try tool.run("get", "internet", "--server", "h").text == "mine")
        }
    }

    @Test("An item of another program is neither given nor overwritten, until a person gives it the description")
    func otherPrograms() throws {
        try withHelpers { (tool) throws in
            try tool.run(
                "add", "internet", "--server", "h", "--protocol", "https", "--account", "a", "--port", "0", "--path",
                "",
                input: Data("mine".utf8))
            #expect(try tool.git("get", "protocol=https", "host=h").output.isEmpty)
            let refused = try tool.git("store", "protocol=https", "host=h", "username=a", "password=new")
            #expect(refused.status == 1 && refused.errors.contains("git credential"))
            #expect(try tool.run("get", "internet").text == "mine")
            #expect(try tool.run("update", "internet", "--set-description", "git credential").status == 0)
            #expect(try tool.git("get", "protocol=https", "host=h").text == "username=a\npassword=mine\n")
        }
    }

    @Test("Locked is said and stops git, and nothing is erased or stored")
    func locked() throws {
        try withHelpersLocked { (tool) throws in
            try tool.git("store", "protocol=https", "host=h", "username=a", "password=p")
        } _: { (tool) throws in
            let found = try tool.git("get", "protocol=https", "host=h")
            #expect(found.text == "quit=1\n" && found.status == 1)
            #expect(found.errors.contains("locked") && found.errors.contains("keychainctl unlock"))
            let asking = try tool.helper(
                "git-credential-keychain", "--ask-when-locked", "get", input: "protocol=https\nhost=h\n")
            #expect(asking.output.isEmpty && asking.status == 1)
            #expect(try tool.git("erase", "protocol=https", "host=h").status == 1)
            #expect(try tool.git("store", "protocol=https", "host=h", "username=a", "password=q").status == 1)
            // Here the index says it for sure.
            #expect(try tool.git("get", "protocol=https", "host=other").status == 0)
            try tool.unlock()
            #expect(try tool.git("get", "protocol=https", "host=h").text == "username=a\npassword=p\n")
        }
    }

    @Test(
        "A value that would be a line of its own is not given to git, and one with a carriage return, or too long, is not stored"
    )
    func lineEnds() throws {
        try withHelpers { (tool) throws in
            try tool.run(
                "add", "internet", "--server", "h", "--protocol", "https", "--account", "a", "--port", "0", "--path",
                "",
                "--description", "git credential", input: Data("one\nhost=evil".utf8))
            let found = try tool.git("get", "protocol=https", "host=h")
            #expect(found.output.isEmpty && found.status == 0 && found.errors.contains("line end"))
            #expect(!found.errors.contains("evil"))
            #expect(try tool.git("store", "protocol=https", "host=g", "username=a\r", "password=p").status == 1)
            let long = "password=" + String(repeating: "p", count: 65_526)
            #expect(try tool.git("store", "protocol=https", "host=g", "username=b", long).status == 1)
            #expect(try tool.git("get", "protocol=https", "host=g").output.isEmpty)
            #expect(
                try tool.git("store", "protocol=https", "host=g", "username=b", String(long.dropLast())).status == 0)
            #expect(try tool.git("get", "protocol=https", "host=g").text.contains(String(long.dropLast()) + "\n"))
        }
    }

    @Test("Input that is not git's is refused, and an operation of a later git is ignored")
    func strangeInput() throws {
        try withHelpers { (tool) throws in
            for input in ["protocol\n", "protocol=https\nhost=\u{0}h\n"] {
                let refused = try tool.helper("git-credential-keychain", "store", input: input)
                #expect(refused.status == 1 && refused.errors.contains("key=value"))
            }
            #expect(try tool.helper("git-credential-keychain", "list").status == 0)
            #expect(try tool.helper("git-credential-keychain").status == 64)
            #expect(try tool.helper("git-credential-keychain", "--other", "get").status == 64)
            let long = try tool.helper(
                "git-credential-keychain", "get", input: String(repeating: "k=v\n", count: 2 << 20))
            #expect(long.status == 1 && long.errors.contains("4 MiB"))
        }
    }

    @Test("Hosts of IPv6, user names of any bytes and a client certificate's file are told apart")
    func strangeNames() throws {
        try withHelpers { (tool) throws in
            let hosts = ["[::1]", "[::1]:8080", "h", "h:1", "h:01", "h:65536"]
            for host in hosts {
                try tool.git("store", "protocol=https", "host=\(host)", "username=", "password=\(host)")
            }
            try tool.git("store", "protocol=cert", "host=", "path=/k.pem", "username=", "password=cert")
            for host in hosts {
                #expect(
                    try tool.git("get", "protocol=https", "host=\(host)").text == "username=\npassword=\(host)\n")
            }
            #expect(try tool.git("get", "protocol=cert", "host=", "path=/k.pem").text.hasSuffix("password=cert\n"))
            #expect(try tool.git("get", "protocol=cert", "host=", "path=/l.pem").output.isEmpty)
            let store = try tool.shell(
                "printf 'protocol=https\\nhost=x\\nusername=\\351\\npassword=\\377\\n' | git-credential-keychain store")
            #expect(store.status == 0)
            #expect(
                try tool.git("get", "protocol=https", "host=x").output
                    == Data("username=".utf8) + [0xe9] + Data("\npassword=".utf8) + [0xff, 0x0a])
        }
    }

    @Test("Two processes that store the same credential at once leave one item")
    func atOnce() throws {
        try withHelpers { (tool) throws in
            // xargs starts them side by side; a shell's own `wait` needs a signal that is held here.
            let line = #"printf "protocol=https\nhost=h\nusername=a\npassword=p\n" | git-credential-keychain store"#
            let outcome = try tool.shell("seq 8 | xargs -P 8 -I N sh -c '\(line)'")
            #expect(outcome.errors.isEmpty)
            #expect(try tool.run("find", "--json").objects.count == 1)
        }
    }
}
