import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

/// Items that ask for authentication, as a person at a terminal meets them. Somebody at a pinentry types.
@Suite(.serialized, .enabled(if: Tool.sharesKeys)) struct AuthenticationCommandTests {
    private static let secret = Data("only for me\n".utf8)

    @Test(
        "The passcode is asked for by pinentry, which is told who asks and why, and the secret comes out byte for byte")
    func passcode() throws {
        try withPasscode { (tool) throws in
            #expect(try add(tool, "--require", "passcode").status == 0)
            let got = try tool.answering(Tool.passcode).run("get", "generic", "--account", "a")
            #expect(got.status == 0)
            #expect(got.output == Self.secret)
            let dialog = try tool.dialog()
            #expect(dialog.contains("keychain"))
            #expect(dialog.contains("show a secret: account a"))
            #expect(!dialog.contains(Tool.passcode))
            let listed = try tool.run("find", "--json")
            #expect(listed.status == 36)
        }
    }

    @Test("With --ask one answer lists every item, and without an answer nothing is listed")
    func list() throws {
        try withPasscode { (tool) throws in
            for service in ["one", "two"] {
                try tool.run(
                    "add", "generic", "--service", service, "--account", "a", "--require", "passcode",
                    input: Self.secret)
            }
            try tool.add("plain")
            #expect(try tool.without.run("find", "--json").objects.count == 1)
            let asking = try tool.answering(Tool.passcode)
            #expect(try asking.run("find", "--ask", "--json").objects.count == 3)
            #expect(try tool.dialog().contains("list items"))
            #expect(try tool.cancelling.run("find", "--ask").status == 128)
            #expect(try tool.without.run("find", "--ask").status == 36)
        }
    }

    @Test("Who cancels gets 128, who types wrongly 51, and where nobody may be asked it is 36")
    func refusals() throws {
        try withPasscode { (tool) throws in
            #expect(try add(tool, "--require", "user-presence").status == 0)
            let get = ["get", "generic", "--account", "a"]
            #expect(try tool.cancelling.run(words: get).status == 128)
            let wrong = try tool.answering("wrong", times: 3).run(words: get)
            #expect(wrong.status == 51)
            #expect(wrong.output.isEmpty)
            #expect(try tool.lockStatus["failedAttempts"] as? Int == 1)
            #expect(try tool.answering(Tool.passcode).run(words: get + ["--no-interaction"]).status == 36)
            #expect(try tool.without.run(words: get).status == 36)
            #expect(try tool.answering(Tool.passcode).run(words: get).output == Self.secret)
        }
    }

    @Test("One answer is enough for a command that finds an item and changes it")
    func update() throws {
        try withPasscode { (tool) throws in
            #expect(try add(tool, "--require", "passcode").status == 0)
            let update = ["update", "generic", "--account", "a", "--secret"]
            #expect(try tool.without.run(words: update, input: Data("new".utf8)).status == 36)
            #expect(try tool.answering(Tool.passcode).run(words: update, input: Data("new".utf8)).status == 0)
            #expect(try tool.dialog().split(separator: "\n").count { $0.hasPrefix("GETPIN") } == 1)
            #expect(try tool.answering(Tool.passcode).run("get", "generic", "--account", "a").text == "new")
        }
    }

    @Test("One answer is enough to edit a secret, and a change by another program is noticed for such an item, too")
    func edit() throws {
        try withPasscode { (tool) throws in
            #expect(try add(tool, "--require", "passcode").status == 0)
            let edit = ["edit", "generic", "--account", "a", "--any-editor"]
            var asking = try tool.answering(Tool.passcode)
            asking.variables["EDITOR"] = "sh -c 'echo all for me >\"$0\"'"
            let edited = try asking.run(words: edit)
            #expect(edited.status == 0, "\(edited.errors)")
            #expect(try tool.dialog().split(separator: "\n").count { $0.hasPrefix("GETPIN") } == 1)
            #expect(try tool.answering(Tool.passcode).run("get", "generic", "--account", "a").text == "all for me\n")
            asking = try tool.answering(Tool.passcode)
            asking.variables["EDITOR"] =
                "sh -c '$K delete generic --group keychain --service s --account a; echo no >\"$0\"'"
            asking.variables["K"] = Tool.executable.path
            let refused = try asking.run(words: edit)
            #expect(refused.status == 1 && refused.errors.contains("changed or deleted"))
        }
    }

    @Test("An application password is chosen when the item is added, and asked for when it is read")
    func applicationPassword() throws {
        try withTool { (tool) throws in
            // It is typed twice.
            let added = try add(tool.answering("pw", times: 2), "--require", "application-password")
            #expect(added.status == 0)
            #expect(try tool.answering("pw").run("get", "generic", "--account", "a").output == Self.secret)
            #expect(try tool.answering("other", times: 3).run("get", "generic", "--account", "a").status == 51)
            let delete = "$K delete generic --group keychain --service s --account a"
            #expect(try tool.shell(delete).status == 0)
        }
    }

    @Test("Without a finger nothing is stored for one, and what does not go together is a mistake in usage")
    func impossible() throws {
        try withTool { (tool) throws in
            #expect(try add(tool, "--require", "biometry-current-set").status == 51)
            #expect(try add(tool, "--require", "passcode").status == 51)
            for options in [
                ["--require", "user-presence", "--require", "passcode"], ["--either"],
                ["--require", "passcode", "--either"], ["--require", "something"],
                ["--require", "biometry-any", "--require", "biometry-current-set"],
            ] {
                #expect(try add(tool, options).status == 64, "\(options)")
            }
            #expect(try tool.run("find").status == 44)
        }
    }

    @Test("The constraints are listed in the JSON of an item")
    func json() throws {
        try withPasscode { (tool) throws in
            let added = try add(
                tool.answering("pw", times: 2), "--require", "passcode", "--require", "application-password", "--json")
            #expect(added.object["constraints"] as? [String] == ["passcode", "application-password"])
        }
    }

    private func add(_ tool: Tool, _ options: String...) throws -> Tool.Outcome { try add(tool, options) }

    private func add(_ tool: Tool, _ options: [String]) throws -> Tool.Outcome {
        try tool.run(words: ["add", "generic", "--service", "s", "--account", "a"] + options, input: Self.secret)
    }
}

extension Tool {
    private var pinentry: URL { home.appendingPathComponent("pinentry") }
    private var transcript: URL { home.appendingPathComponent("dialog") }

    /// What the pinentry was told last.
    func dialog() throws -> String { try String(contentsOf: transcript, encoding: .utf8) }

    /// With a pinentry where somebody types this, and gives up when they are asked more often.
    func answering(_ text: String, times: Int = 1) throws -> Tool {
        try with(
            """
            printf x >> "$0.asked"
            if [ "$(wc -c < "$0.asked")" -gt \(times) ]; then echo "ERR 83886179 cancelled"; else
                printf 'D \(text)\\nOK\\n'
            fi
            """)
    }

    var cancelling: Tool { get throws { try with("echo 'ERR 83886179 cancelled'") } }

    /// With nothing to ask with.
    var without: Tool {
        var tool = self
        tool.variables["KEYCHAIN_PROMPT"] = "none"
        return tool
    }

    private func with(_ answer: String) throws -> Tool {
        try? FileManager.default.removeItem(atPath: pinentry.path + ".asked")
        try """
        #!/bin/sh
        : > '\(transcript.path)'
        echo "OK ready"
        while read -r line; do
            echo "$line" >> '\(transcript.path)'
            case "$line" in
            GETPIN*)
                \(answer) ;;
            BYE*) echo OK && exit 0 ;;
            *) echo OK ;;
            esac
        done
        """.write(to: pinentry, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: pinentry.path)
        var tool = self
        tool.variables["KEYCHAIN_PROMPT"] = "pinentry"
        tool.variables["KEYCHAIN_PINENTRY"] = pinentry.path
        return tool
    }
}
