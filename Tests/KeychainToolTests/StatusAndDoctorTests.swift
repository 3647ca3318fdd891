import Foundation
import KeychainModel
import Testing

@Suite struct StatusAndDoctorTests {
    private func mode(_ mode: Int, _ url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    @Test("Without a store they say so, make none, and end with 0", arguments: ["status", "doctor"])
    func noStore(command: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.run(command)
            #expect(outcome.status == 0)
            #expect(outcome.text.contains("none yet") || outcome.text.contains("no keychain here yet"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: tool.home.path).allSatisfy { name in
                    name == "tmp" || name.hasPrefix("run-")
                })
        }
    }

    @Test("status counts the items and says what is not protected")
    func status() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            let status = try tool.run("status", "--json").object
            #expect(status["exists"] as? Bool == true)
            #expect(status["store"] as? String == tool.store.path)
            #expect((status["items"] as? [String: Int])?["generic"] == 1)
            #expect((status["items"] as? [String: Int])?["key"] == 0)
            let identity = status["identity"] as? [String: Any]
            #expect(identity?["groups"] as? [String] == ["keychainctl", "unconfined"])
            #expect(identity?["source"] as? String == "executable-name")
            let text = try tool.run("status", "--verbose").text
            #expect(text.contains("does not protect against a thief"))
            #expect(text.contains("1 generic password,"))
            #expect(try tool.run("status").text.contains("1 generic password\n"))
        }
    }

    @Test("In short it is six lines at 80 columns, and the first says whether it is locked")
    func summary() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            for state in ["never locked", "unlocked", "locked"] {
                if state == "unlocked" { try tool.setPasscode() }
                if state == "locked" { try tool.run("lock", "--now") }
                if state == "never locked" { try tool.run("add", "s") }
                let session = try TerminalSession(tool, words: ["status"], showsOutput: true, columns: 80)
                #expect(try session.end() == 0)
                let lines = session.lines.filter { !$0.isEmpty }.map { $0.replacing(/\u{1b}\[[0-9]*m/, with: "") }
                #expect(
                    lines.map { $0.prefix { $0 != " " } } == [
                        "Keychain", "Items", "Passcode", "Locks", "Host", "Store",
                    ])
                #expect(lines.first?.hasPrefix("Keychain    \(state)") == true)
            }
        }
    }

    @Test("--store and --device-key name another keychain")
    func otherStore() throws {
        try withTool { (tool) throws in
            let other = tool.home.appendingPathComponent("other").path
            let key = tool.home.appendingPathComponent("key").path
            let options = "--store \(other) --device-key \(key)"
            #expect(try tool.shell("printf x | $K add generic --service s --account a \(options)").status == 0)
            #expect(try tool.shell("$K get generic \(options)").text == "x")
            #expect(try tool.run("find").status == 44)
            #expect(
                try tool.run("status", "--json", "--store", other, "--device-key", key).object["store"] as? String
                    == other)
        }
    }

    @Test("A healthy store has nothing worse than notes")
    func healthy() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            let doctor = try tool.run("doctor", "--json")
            #expect(doctor.status == 0)
            #expect(doctor.object["healthy"] as? Bool == true)
            #expect(doctor.object["checkedItems"] as? Int == 1)
        }
    }

    @Test("Files that others may use are found, with the command that mends them")
    func modes() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            let keybag = tool.store.appendingPathComponent("keybag")
            for (url, wrong, right) in [(tool.store, 0o755, 0o700), (keybag, 0o644, 0o600)] {
                try mode(wrong, url)
                let outcome = try tool.run("doctor", "--json")
                #expect(outcome.status == 1)
                let advice = (outcome.object["findings"] as? [[String: String]])?.compactMap { $0["advice"] }
                #expect(advice?.contains("run: chmod \(String(right, radix: 8)) '\(url.path)'") == true)
                try mode(right, url)
            }
            #expect(try tool.run("doctor").status == 0)
        }
    }

    @Test(
        "The keychain of another user is one finding",
        .enabled(if: geteuid() == 0, "only root can be two users at once"),
        arguments: [0o700, 0o755])
    func otherUsers(modeOfHome: Int) throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            try mode(modeOfHome, tool.home)
            try mode(modeOfHome, tool.store.deletingLastPathComponent())
            let other = "setpriv --reuid 65534 --regid 65534 --clear-groups"
            let outcome = try tool.shell("\(other) $K doctor --json --store '\(tool.store.path)'")
            #expect(outcome.status == 1)
            let findings = try #require(outcome.object["findings"] as? [[String: String]])
            #expect(findings.count == 1)
            #expect(findings.first?["text"]?.contains("belongs to user 0, and this program runs as 65534") == true)
            #expect(findings.first?["advice"]?.contains("run it as that user") == true)
        }
    }

    @Test("What keeps a store shut is explained", arguments: ["keybag", "keychain.db", "device-key"])
    func missing(file: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            let directory = file == "device-key" ? tool.deviceKey : tool.store
            try FileManager.default.removeItem(at: directory.appendingPathComponent(file))
            let before = try FileManager.default.subpathsOfDirectory(atPath: tool.store.path).sorted()
            let outcome = try tool.run("doctor")
            #expect(outcome.status == 1)
            #expect(outcome.text.contains("damage"))
            #expect(outcome.text.contains(file))
            #expect(try tool.run("find").status == 53)
            #expect(try tool.run("status").status == 53)
            let after = try FileManager.default.subpathsOfDirectory(atPath: tool.store.path).sorted()
            #expect(Set(after).subtracting(before).isSubset(of: ["store.lock", "keychain.db-shm", "keychain.db-wal"]))
        }
    }

    @Test("A device key within the store is found")
    func deviceKeyInside() throws {
        try withTool { (tool) throws in
            let key = tool.store.appendingPathComponent("key").path
            #expect(try tool.shell("printf x | $K add generic --service s --account a --device-key \(key)").status == 0)
            let outcome = try tool.run("doctor", "--device-key", key)
            #expect(outcome.status == 1)
            #expect(outcome.text.contains("inside the store's directory"))
        }
    }

    @Test("A damaged secret is found by doctor, and 'get' says so and writes nothing")
    func damagedSecret() throws {
        try withTool { (tool) throws in
            try tool.asApp(["app"], .add(account: .text("small")))
            let before = try Data(contentsOf: tool.database).count
            try tool.asApp(["app"], .add(secret: String(repeating: "x", count: 64 << 10)))
            var bytes = try Data(contentsOf: tool.database)
            // The middle of what a large secret added to the file is that secret, in pages of its own.
            bytes[(before + bytes.count) / 2 / 4096 * 4096 + 2048] ^= 1
            try bytes.write(to: tool.database)
            let got = try tool.run("get", "generic", "--account", "a")
            #expect(got.status == 93)
            #expect(got.output.isEmpty)
            #expect(got.errors.contains("doctor"))
            #expect(try tool.run("get", "generic", "--account", "small").text == "secret")
            #expect(try tool.run("doctor").status == 1)
        }
    }
}
