import Foundation
import Testing

/// One after the other, since each passcode costs 128 MiB of memory for a moment.
@Suite(.serialized, .enabled(if: Tool.sharesKeys)) struct PasscodeTests {
    @Test("A passcode is set from two lines, the last one with or without its end", arguments: ["\n", ""])
    func set(end: String) throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            let input = Data("\(Tool.passcode)\n\(Tool.passcode)\(end)".utf8)
            let outcome = try tool.run("passcode", "set", input: input)
            #expect(outcome.status == 0)
            #expect(outcome.text.isEmpty)
            #expect(outcome.errors.isEmpty)
            #expect(try tool.hasPasscode)
            #expect(try tool.run("lock").status == 0)
            #expect(try tool.unlock().status == 0)
        }
    }

    @Test(
        "Lines that cannot be a new passcode are refused with their status, and none is set",
        arguments: [
            (Tool.lines("one", "another"), 206), (Data(), 206), (Tool.lines("one"), 206),
            (Tool.lines("one", "one", "one"), 206), (Data("one\none\n\n".utf8), 206), (Tool.lines("", ""), 206),
            (Data([0xff, 0xfe, 0x0a, 0xff, 0xfe, 0x0a]), 93),
            (Tool.lines(String(repeating: "x", count: 1025), String(repeating: "x", count: 1025)), 42),
            (Data(repeating: 0x0a, count: 70_000), 42),
        ] as [(Data, Int32)])
    func refused(input: Data, status: Int32) throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.add("a")
            let outcome = try tool.run("passcode", "set", input: input)
            #expect(outcome.status == status)
            #expect(outcome.errors.hasPrefix("keychainctl: "))
            #expect(!outcome.errors.contains("another") && !outcome.errors.contains("xxx"))
            #expect(try !tool.hasPasscode)
            #expect(try tool.run("get", "generic").text == "secret")
        }
    }

    @Test("The first command may be the one that sets a passcode")
    func makesStore() throws {
        try withPasscode { (tool) throws in
            #expect(FileManager.default.fileExists(atPath: tool.database.path))
            #expect(try tool.add("a", accessible: "when-passcode-set").status == 0)
            #expect(try tool.run("get", "generic").text == "secret")
        }
    }

    @Test("A renewal that leaves items which do not open ends with status 1, and says where to look")
    func leftItems() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.add("a")
            try tool.add("b")
            try tool.edit("UPDATE item SET version = version + 1 WHERE id = 1")
            let outcome = try tool.setPasscode()
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("former keys are kept") && outcome.errors.contains("keychainctl doctor"))
            #expect(try tool.run("doctor").text.contains("row 1 does not open"))
            #expect(try tool.run("get", "generic", "--account", "b").text == "secret")
            try tool.edit("UPDATE item SET version = version - 1 WHERE id = 1")
            let unlocked = try tool.unlock()
            #expect(unlocked.status == 0 && unlocked.errors.isEmpty)
            #expect(try tool.run("get", "generic", "--account", "a").text == "secret")
            #expect(try tool.run("doctor").status == 0)
        }
    }

    @Test("A second passcode is no first one: 45, and the old one stays")
    func secondSet() throws {
        try withPasscode { (tool) throws in
            #expect(try tool.setPasscode(Tool.otherPasscode).status == 45)
            #expect(try tool.unlock(Tool.otherPasscode).status == 51)
            #expect(try tool.unlock().status == 0)
        }
    }

    @Test("Lines are bytes: spaces and a carriage return are part of the passcode")
    func lines() throws {
        try withTool { (tool) throws in
            let odd = " \(Tool.passcode)\r"
            #expect(try tool.setPasscode(odd).status == 0)
            #expect(try tool.unlock().status == 51)
            #expect(try tool.unlock(odd).status == 0)
            #expect(try tool.run("passcode", "remove", "--yes", input: Tool.lines(odd)).status == 0)
        }
    }

    @Test("What a passcode protects is there after it was set, changed, renewed and removed")
    func keepsItems() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            for (account, accessible) in [("a", "when-unlocked"), ("b", "after-first-unlock"), ("c", "always")] {
                try tool.add(account, accessible: accessible)
            }
            func check(_ step: String) throws {
                for account in ["a", "b", "c"] {
                    let got = try tool.run("get", "generic", "--account", account)
                    #expect(got.text == "secret", "\(step): \(account)")
                }
            }
            #expect(try tool.setPasscode().status == 0)
            try check("set")
            let change = Tool.lines(Tool.passcode, Tool.otherPasscode, Tool.otherPasscode)
            #expect(try tool.run("passcode", "change", input: change).status == 0)
            try check("changed")
            let back = Tool.lines(Tool.otherPasscode, Tool.passcode, Tool.passcode)
            let rekeyed = try tool.run("passcode", "change", "--rekey", input: back)
            #expect(rekeyed.status == 0)
            #expect(rekeyed.errors.isEmpty)
            #expect(try tool.lockStatus["rekeying"] as? Bool == false)
            try check("renewed")
            #expect(try tool.run("passcode", "remove", "--yes", input: Tool.lines(Tool.passcode)).status == 0)
            try check("removed")
            #expect(try tool.run("doctor").status == 0)
        }
    }

    @Test("After a change the new passcode unlocks and the old one does not", arguments: [false, true])
    func change(rekey: Bool) throws {
        try withPasscode { (tool) throws in
            let lines = "'\(Tool.passcode)' '\(Tool.otherPasscode)' '\(Tool.otherPasscode)'"
            let command = "printf '%s\\n' \(lines) | $K passcode change\(rekey ? " --rekey" : "")"
            #expect(try tool.shell(command).status == 0)
            #expect(try tool.run("lock").status == 0)
            #expect(try tool.unlock().status == 51)
            #expect(try tool.unlock(Tool.otherPasscode).status == 0)
        }
    }

    @Test(
        "A change that is refused changes nothing",
        arguments: [
            (Tool.lines("wrong", "new", "new"), 51), (Tool.lines(Tool.passcode, "new", "newer"), 206),
            (Tool.lines(Tool.passcode, "new"), 206), (Tool.lines(Tool.passcode, "", ""), 206),
        ] as [(Data, Int32)])
    func refusedChange(input: Data, status: Int32) throws {
        try withPasscode { (tool) throws in
            let outcome = try tool.run("passcode", "change", input: input)
            #expect(outcome.status == status)
            #expect(!outcome.errors.contains(Tool.passcode))
            #expect(try tool.run("lock").status == 0)
            #expect(try tool.unlock().status == 0)
        }
    }

    @Test("To remove a passcode without a person takes --yes and the passcode")
    func remove() throws {
        try withPasscode { (tool) throws in
            let unasked = try tool.run("passcode", "remove", input: Tool.lines(Tool.passcode))
            #expect(unasked.status == 64)
            #expect(unasked.errors.contains("destroyed"))
            #expect(try tool.run("passcode", "remove", "--yes", input: Tool.lines("wrong")).status == 51)
            #expect(try tool.hasPasscode)
            #expect(try tool.run("passcode", "remove", "--yes", input: Tool.lines(Tool.passcode)).status == 0)
            #expect(try !tool.hasPasscode)
            #expect(try tool.run("lock").status == 84)
        }
    }

    @Test("What is there only while a passcode is set goes with it, and nothing else does")
    func destroysWithPasscode() throws {
        try withPasscode { (tool) throws in
            #expect(try tool.add("gone", accessible: "when-passcode-set").status == 0)
            #expect(try tool.add("kept").status == 0)
            #expect(try tool.run("passcode", "remove", "--yes", input: Tool.lines(Tool.passcode)).status == 0)
            #expect(try tool.run("get", "generic", "--account", "gone").status == 44)
            #expect(try tool.run("get", "generic", "--account", "kept").text == "secret")
        }
    }

    @Test(
        "Without a passcode what needs one ends with 84 and says how to set one",
        arguments: [
            ("lock", []), ("lock --now", []), ("unlock", ["p"]), ("passcode change", ["p", "q", "q"]),
            ("passcode remove --yes", ["p"]), ("passcode policy", []), ("passcode policy --idle-lock 10m", ["p"]),
        ] as [(String, [String])])
    func noPasscode(command: String, lines: [String]) throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let outcome = try tool.shell("printf '%s\\n' \(lines.joined(separator: " ")) | $K \(command)")
            #expect(outcome.status == 84, "\(command)")
            #expect(outcome.text.isEmpty)
            #expect(outcome.errors.contains("'keychainctl passcode set'"))
        }
    }

    // MARK: Policy

    @Test("The policy is shown without a passcode and set with one, each part by itself")
    func policy() throws {
        try withPasscode { (tool) throws in
            func policy() throws -> [String: Any] { try tool.run("passcode", "policy", "--json").object }
            #expect(try policy()["idleLimit"] is NSNull)
            #expect(try policy()["eraseAfterTen"] as? Bool == false)
            let passcode = Tool.lines(Tool.passcode)
            let set = try tool.run("passcode", "policy", "--idle-lock", "10m", input: passcode)
            #expect(set.status == 0)
            #expect(set.text.isEmpty)
            #expect(try policy()["idleLimit"] as? Int == 600)
            let erase = try tool.run("passcode", "policy", "--erase-after-ten", "on", "--json", input: passcode)
            #expect(erase.object["idleLimit"] as? Int == 600)
            #expect(erase.object["eraseAfterTen"] as? Bool == true)
            #expect(try policy()["eraseAfterTen"] as? Bool == true)
            #expect(try tool.run("passcode", "policy").text.contains("10 minutes"))
            #expect(try policy()["timeAfterLock"] as? Int == 600)
            #expect(try tool.run("passcode", "policy", "--after-lock", "0s", input: passcode).status == 0)
            #expect(try policy()["timeAfterLock"] as? Int == 0)
            #expect(try policy()["idleLimit"] as? Int == 600)
            #expect(try tool.run("passcode", "policy").text.contains("close at once"))
            let never = ["never", "off"]
            #expect(
                try tool.run(
                    "passcode", "policy", "--idle-lock", never[0], "--erase-after-ten", never[1], input: passcode
                ).status == 0)
            #expect(try policy()["idleLimit"] is NSNull)
            #expect(try policy()["timeAfterLock"] as? Int == 0)
        }
    }

    @Test("A policy with a wrong passcode is refused with 51 and stays as it was")
    func refusedPolicy() throws {
        try withPasscode { (tool) throws in
            let outcome = try tool.run("passcode", "policy", "--idle-lock", "10m", input: Tool.lines("wrong"))
            #expect(outcome.status == 51)
            #expect(try tool.lockStatus["idleLimit"] is NSNull)
        }
    }

    @Test("A short passcode is taken, with a word on it, and so is a short passphrase")
    func short() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            let note = "note: a passcode of fewer than 8 characters is soon guessed\n"
            let set = try tool.setPasscode("1234567")
            #expect(set.status == 0)
            #expect(set.errors == note)
            #expect(try tool.run("passcode", "change", input: Tool.lines("1234567", "a", "a")).errors == note)
            #expect(try tool.run("passcode", "change", input: Tool.lines("a", "12345678", "12345678")).errors.isEmpty)
            let exported = try tool.run("export", tool.path("export"), input: Tool.lines("short", "short"))
            #expect(exported.status == 0)
            #expect(exported.errors == note.replacing("passcode", with: "passphrase"))
        }
    }

    // MARK: At a terminal

    @Test("At a terminal each passcode is asked for and not shown, and the renewal of the keys is")
    func prompts() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.add("a")
            let set = try TerminalSession(tool, "passcode", "set")
            try set.answer("New passcode: ", Tool.passcode)
            try set.answer("New passcode again: ", Tool.passcode)
            #expect(try set.end() == 0)
            #expect(set.echoes)
            #expect(set.transcript.contains("Renewing keys"))
            #expect(set.transcript.contains("100%"))
            #expect(set.transcript.contains("keychainctl watch"))
            #expect(!set.transcript.contains(Tool.passcode))
            #expect(try tool.hasPasscode)

            let change = try TerminalSession(tool, "passcode", "change")
            try change.answer("Old passcode: ", Tool.passcode)
            try change.answer("New passcode: ", Tool.otherPasscode)
            try change.answer("New passcode again: ", Tool.otherPasscode)
            #expect(try change.end() == 0)
            #expect(!change.transcript.contains(Tool.otherPasscode))
            #expect(try tool.unlock(Tool.otherPasscode).status == 0)
        }
    }

    @Test("Two passcodes that were typed differently are refused with 206, and no store is made")
    func typedDifferently() throws {
        try withTool { (tool) throws in
            let session = try TerminalSession(tool, "passcode", "set")
            try session.answer("New passcode: ", "one")
            try session.answer("New passcode again: ", "two")
            #expect(try session.end() == 206)
            #expect(session.transcript.contains("not the same"))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("Whoever does not type yes keeps the passcode, with 128", arguments: ["no", "", "yes please"])
    func notYes(answer: String) throws {
        try withPasscode { (tool) throws in
            let session = try TerminalSession(tool, "passcode", "remove")
            try session.answer("Type yes to go on: ", answer)
            #expect(try session.end() == 128)
            #expect(session.transcript.contains("when-passcode-set, and all that require"))
            #expect(try tool.hasPasscode)
        }
    }

    @Test("Whoever types yes and the passcode removes it")
    func yes() throws {
        try withPasscode { (tool) throws in
            let session = try TerminalSession(tool, "passcode", "remove")
            try session.answer("Type yes to go on: ", "yes")
            try session.answer("Passcode: ", Tool.passcode)
            #expect(try session.end() == 0)
            #expect(try !tool.hasPasscode)
        }
    }
}
