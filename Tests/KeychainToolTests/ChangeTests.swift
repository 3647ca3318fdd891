import Foundation
import KeychainModel
import Testing

@Suite struct ChangeTests {
    @Test("Several matches are refused with their groups named, and nothing is written or changed")
    func severalMatches() throws {
        try withTool { (tool) throws in
            try tool.asApp(["com.example.one"], .add(secret: "1"))
            try tool.asApp(["com.example.two"], .add(secret: "2"))
            for command in ["get generic", "delete generic", "update generic --set-label l", "update generic"] {
                let outcome = try tool.shell("printf new | $K \(command) --service s")
                #expect(outcome.status == 206, "\(command)")
                #expect(outcome.output.isEmpty)
                #expect(outcome.errors.contains("com.example.one, com.example.two"))
                #expect(outcome.errors.contains("--group"))
            }
            #expect(try tool.run("get", "generic", "--group", "com.example.one").text == "1")
            #expect(try tool.run("get", "generic", "--group", "com.example.two").text == "2")
        }
    }

    @Test("An item and its synchronizable twin are told apart by --sync")
    func synchronizable() throws {
        try withTool { (tool) throws in
            #expect(try tool.shell("printf 1 | $K add generic --service s --account a").status == 0)
            #expect(try tool.shell("printf 2 | $K add generic --service s --account a --sync").status == 0)
            #expect(try tool.run("get", "generic", "--service", "s").status == 206)
            #expect(try tool.run("get", "generic", "--sync", "no").text == "1")
            #expect(try tool.run("get", "generic", "--sync", "yes").text == "2")
        }
    }

    @Test("update --set-group moves an item to the group of a renamed program")
    func setGroup() throws {
        try withTool { (tool) throws in
            try tool.asApp(["old"], .add())
            #expect(try tool.run("update", "generic", "--group", "old", "--set-group", "new").status == 0)
            var query = ItemQuery(.genericPassword)
            query.attributes[.service] = .text("s")
            guard case .found(let items) = try tool.asApp(["new"], .find(FindRequest(query, wantsSecrets: true)))
            else {
                Issue.record("another answer")
                return
            }
            #expect(items.first?.secret?.copyData() == Data("secret".utf8))
            #expect(try tool.run("find", "--group", "old").status == 44)
        }
    }

    @Test("update reads a secret if nothing is set, or with --secret, and else leaves it alone")
    func updatesSecret() throws {
        try withTool { (tool) throws in
            #expect(try tool.shell("printf 1 | $K add generic --service s --account a").status == 0)
            #expect(try tool.shell("printf 2 | $K update generic --service s --set-label l").status == 0)
            #expect(try tool.run("get", "generic", "--label", "l").text == "1")
            #expect(try tool.shell("printf 3 | $K update generic --service s").status == 0)
            #expect(try tool.run("get", "generic", "--label", "l").text == "3")
            #expect(try tool.shell("printf 4 | $K update generic --service s --set-account b --secret").status == 0)
            #expect(try tool.run("get", "generic", "--account", "b").text == "4")
        }
    }

    @Test("update --set-accessible changes the protection class")
    func setAccessible() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            #expect(try tool.run("update", "generic", "--set-accessible", "always-this-device-only").status == 0)
            let item = try tool.run("find", "--json").objects.first
            #expect(item?["accessible"] as? String == "always-this-device-only")
        }
    }

    @Test("add --update keeps the item, replaces its secret and sets only what is named")
    func addOrUpdate() throws {
        try withTool { (tool) throws in
            let add = "$K add generic --service s --account a --json --update"
            let first = try tool.shell("printf 1 | \(add) --label l --comment c").object
            let second = try tool.shell("printf 2 | \(add) --label m --accessible always").object
            #expect(first["reference"] as? String == second["reference"] as? String)
            #expect(second["accessible"] as? String == "always")
            let attributes = second["attributes"] as? [String: Any]
            #expect(attributes?["label"] as? String == "m")
            #expect(attributes?["comment"] as? String == "c")
            #expect(try tool.run("get", "generic").text == "2")
        }
    }

    @Test("delete --all deletes every match and nothing else")
    func deleteAll() throws {
        try withTool { (tool) throws in
            try tool.asApp(["one"], .add())
            try tool.asApp(["two"], .add())
            try tool.asApp(["two"], .add(service: .text("other")))
            #expect(try tool.run("delete", "generic", "--service", "s", "--all").status == 0)
            #expect(try tool.run("find", "--json").objects.count == 1)
        }
    }

    @Test("A deletion says how many items went, and one that names nothing but the class wants to be meant")
    func deletionOfAClass() throws {
        try withTool { (tool) throws in
            for account in ["a", "b", "c"] {
                try tool.run("add", "generic", "--service", "s", "--account", account, input: Data("1".utf8))
            }
            for words in [["--all"], ["--all", "--json"], []] {
                let refused = try tool.run(words: ["delete", "generic"] + words)
                #expect(refused.status == 64 && refused.errors.contains("--yes") && refused.text.isEmpty)
            }
            let rehearsed = try tool.run("delete", "generic", "--all", "--dry-run")
            #expect(rehearsed.status == 0 && rehearsed.text.hasSuffix("3 items would be deleted\n"))
            #expect(rehearsed.text.contains("ACCOUNT"))
            let matches = try tool.run("delete", "generic", "--all", "--dry-run", "--json").object["matches"]
            #expect((matches as? [Any])?.count == 3)
            #expect(try tool.run("delete", "generic", "--account", "a").text == "1 item deleted\n")
            #expect(try tool.run("delete", "generic", "--all", "--yes", "--json").object["deleted"] as? Int == 2)
            #expect(try tool.run("delete", "generic", "--all", "--yes").status == 44)
        }
    }

    @Test("At a terminal a deletion of a whole class asks first", arguments: ["yes", "no", ""])
    func deletionAsks(answer: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("1".utf8))
            try tool.run("add", "generic", "--service", "s", "--account", "b", input: Data("1".utf8))
            let several = try tool.run("rm", "generic", "--yes")
            #expect(several.status == 206 && several.errors.contains("--all"))
            let session = try TerminalSession(tool, "delete", "generic", "--all")
            try session.answer("Type yes to go on: ", answer)
            #expect(try session.end() == (answer == "yes" ? 0 : 128))
            #expect(session.transcript.contains("all 2 generic passwords in \(tool.store.path) will be deleted"))
            #expect(try tool.run("find").status == (answer == "yes" ? 44 : 0))
        }
    }

    @Test("A reference means one item, whatever else matches")
    func reference() throws {
        try withTool { (tool) throws in
            try tool.asApp(["one"], .add(account: .data(Data([0, 0xff]))))
            try tool.asApp(["two"], .add(secret: "other"))
            let items = try tool.run("find", "--json").objects
            let reference = try #require(items.first?["reference"] as? String)
            #expect(try tool.run("get", "--reference", reference).text == "secret")
            #expect(try tool.run("delete", "--reference", reference).status == 0)
            #expect(try tool.run("get", "--reference", reference).status == 44)
            #expect(try tool.run("get", "generic").text == "other")
        }
    }

    @Test("An item that asks for what nobody can show is refused, not listed, and deleted when it is named")
    func constrained() throws {
        try withTool { (tool) throws in
            try tool.asApp(["app"], .add(flags: .userPresence))
            // There is no passcode and no reader; a listing does not even ask.
            for (command, status) in [
                ("find", 36), ("get generic", 51), ("update generic --set-label l", 51),
                ("delete generic --service s", 36),
                ("get generic --no-interaction", 51),
            ] as [(String, Int32)] {
                #expect(try tool.shell("$K \(command)").status == status, "\(command)")
            }
            try tool.asApp(["app"], .add(account: .text("b")))
            let found = try tool.run("find", "--json")
            #expect(found.status == 0)
            #expect(found.objects.count == 1)
            #expect(found.errors.contains("ask for authentication"))
            #expect(try tool.run("get", "generic", "--service", "s").status == 206)
            let delete = "$K delete generic --group app --service s --account a"
            #expect(try tool.shell(delete).status == 0)
            #expect(try tool.shell(delete).status == 44)
        }
    }
}
