import Foundation
import Testing

/// `keychainctl doctor --repair`, as a person uses it.
struct RepairTests {
    private func damage(_ tool: Tool) throws {
        var bytes = try Data(contentsOf: tool.database)
        // The root of the table that says where items are, the fourth or so: its kind becomes none.
        let root = try #require((1..<bytes.count / 4096).first { bytes[$0 * 4096] == 0x0d && bytes[$0 * 4096 + 4] > 0 })
        bytes[root * 4096] = 0x77
        for page in root..<bytes.count / 4096 { bytes[page * 4096] ^= 0x70 }
        try bytes.write(to: tool.database)
    }

    @Test("A store with a damaged database is explained, repaired, and kept")
    func repair() throws {
        try withTool { (tool) throws in
            for account in ["a", "b", "c"] { #expect(try tool.add(account).status == 0) }
            try damage(tool)
            let sick = try tool.run("doctor")
            #expect(sick.status == 1 && sick.text.contains("doctor --repair"))
            #expect(try tool.run("get", "generic", "--account", "a").status != 0)

            let outcome = try tool.run("doctor", "--repair", "--json")
            #expect(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
            let repair = try #require(outcome.object["repair"] as? [String: Any])
            #expect(repair["saved"] as? Int == 3 && repair["unreadable"] as? Int == 0)
            #expect(outcome.object["healthy"] as? Bool == true)
            let old = try #require(repair["oldStore"] as? String)
            #expect(FileManager.default.fileExists(atPath: old + "/keychain.db"))
            for account in ["a", "b", "c"] {
                #expect(try tool.run("get", "generic", "--account", account).text == "secret")
            }
            let later = try tool.run("doctor")
            #expect(later.status == 0 && later.text.contains(old))
        }
    }

    @Test("A healthy store is left alone")
    func healthy() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let outcome = try tool.run("doctor", "--repair")
            #expect(outcome.status == 0 && outcome.errors.contains("nothing"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: tool.home.appendingPathComponent("data").path)
                    == ["keychain"])
        }
    }

    @Test("What a repair cannot mend ends with its reason, and changes nothing")
    func beyondRepair() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let keybag = tool.store.appendingPathComponent("keybag")
            var bytes = try Data(contentsOf: keybag)
            bytes[40] ^= 1
            try bytes.write(to: keybag)
            let outcome = try tool.run("doctor", "--repair")
            #expect(outcome.status == 1 && outcome.text.contains("keybag"))
            #expect(try Data(contentsOf: keybag) == bytes)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: tool.home.appendingPathComponent("data").path)
                    == ["keychain"])
        }
    }

    @Test("A locked store is repaired with its passcode on standard input")
    func locked() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.add("a")
            try tool.setPasscode()
            try tool.add("secret", accessible: "when-passcode-set")
            try tool.run("lock")
            try damage(tool)
            #expect(try tool.run("doctor", "--repair", input: Tool.lines("wrong")).status == 51)
            let outcome = try tool.run("doctor", "--repair", "--json", input: Tool.lines(Tool.passcode))
            #expect(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
            #expect((outcome.object["repair"] as? [String: Any])?["saved"] as? Int == 2)
            if Tool.sharesKeys { try tool.unlock() }
            #expect(try tool.run("get", "generic", "--account", "secret").text == "secret" || !Tool.sharesKeys)
        }
    }
}
