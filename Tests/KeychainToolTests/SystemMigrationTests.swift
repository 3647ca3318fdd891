import Foundation
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

/// `migrate` to a daemon with a store of its own. A user's daemon of another home is in the system's place, which has the
/// same requests for an owner.
@Suite struct SystemMigrationTests {
    /// Runs `body` with the command on two homes: of a person, and of the daemon; and with the words of a migration.
    private func withHomes(_ body: (Tool, Tool, DaemonProcess, [String]) throws -> Void) throws {
        try withTool { tool in
            try withTool { other in
                let daemon = try DaemonOfHome(other)
                defer { daemon.process.kill() }
                try other.run("migrate", "--to", "user")
                // The mark is the user's; the command is told where the daemon is.
                var system = other
                system.variables["KEYCHAIN_HOST"] = "unix:" + daemon.process.socket
                let manifests = tool.home.resolvingSymlinksInPath().appendingPathComponent("manifests")
                try FileManager.default.createDirectory(at: manifests, withIntermediateDirectories: true)
                try Data("{ \"swift-keychain.unit\" = \"a.service\"; \"keychain-access-groups\" = (kept); }".utf8)
                    .write(to: manifests.appendingPathComponent("a.plist"))
                _ = chmod(manifests.path, 0o755)
                _ = chmod(manifests.appendingPathComponent("a.plist").path, 0o644)
                try body(
                    tool, system, daemon.process,
                    ["migrate", "--to", "system", "--socket", daemon.process.socket, "--manifests", manifests.path])
            }
        }
    }

    private func add(_ tool: Tool, _ account: String, group: String? = nil, _ more: String...) throws {
        let words = ["add", "generic", "--service", "s", "--account", account] + (group.map { ["--group", $0] } ?? [])
        let outcome = try tool.run(words: words + more, input: Data("secret of \(account)".utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func accounts(_ tool: Tool) throws -> [String] {
        try tool.run("find", "--json").objects.map { item in
            "\((item["attributes"] as? [String: Any])?["account"] ?? "")@\(item["group"] ?? "")"
        }.sorted()
    }

    @Test("Everything goes over, the mark changes, and nothing is left; once more is nothing more")
    func whole() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            try add(tool, "b", group: "kept", "--accessible", "after-first-unlock-this-device-only")
            let rehearsal = try tool.run(words: migrate + ["--dry-run", "--json"])
            #expect(rehearsal.status == 0, "\(rehearsal.errors)")
            #expect(rehearsal.object["moved"] as? Int == 2)
            #expect(rehearsal.object["unconfined"] as? Int == 1)
            #expect(try accounts(tool) == ["a@keychain", "b@kept"])
            #expect(try accounts(system) == [])
            for _ in 0..<2 {
                let outcome = try tool.run(words: migrate + ["--json"])
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(try StoreHostWord(tool).text == "system\n")
                #expect(try accounts(system) == ["a@unconfined", "b@kept"])
            }
            #expect(try system.run("get", "generic", "--service", "s", "--account", "a").text == "secret of a")
            // The old place refuses to answer.
            let refused = try tool.run("find", "--store", tool.store.path, "--device-key", tool.deviceKey.path)
            #expect(refused.status == 53)
        }
    }

    private struct StoreHostWord {
        let text: String?

        init(_ tool: Tool) throws {
            text = try? String(contentsOf: tool.store.appendingPathComponent("host"), encoding: .utf8)
        }
    }

    // MARK: A daemon of the system's kind

    /// Runs `body` with a daemon that takes every client that claims to be the owner for one that has to show the passcode.
    private func withSystem(_ body: (Tool, InProcessDaemon, [String]) throws -> Void) throws {
        try withTool { tool in
            try withTemporaryDirectory { directory in
                var configuration = EngineConfiguration.test(in: directory, usesKeyring: false)
                configuration.host = .system
                let made = configuration
                try Engine(made).setPasscode("of the system")
                let daemon = try InProcessDaemon(in: directory) { () throws(KeychainError) in try Engine(made) }
                defer { daemon.stop() }
                try body(tool, daemon, ["--socket", directory.appendingPathComponent("socket").path])
            }
        }
    }

    private func secrets(_ daemon: InProcessDaemon, group: String) throws -> [String] {
        var query = ItemQuery(.genericPassword)
        query.limit = .all
        let reply = Result { () throws(KeychainError) in
            try daemon.carrier.handle(.find(FindRequest(query, wantsSecrets: true)), from: Caller(groups: [group]))
        }
        if case .failure(let error) = reply, error.code == .itemNotFound { return [] }
        guard case .found(let items) = try reply.get() else { return ["another reply"] }
        return items.map { String(decoding: $0.secret?.copyData() ?? Data(), as: UTF8.self) }.sorted()
    }

    private static let passcode = Tool.lines("of the system")

    @Test("There and back: each program has what its groups give it, and at the end everything is here")
    func thereAndBack() throws {
        try withSystem { tool, daemon, socket in
            try add(tool, "a")
            try add(tool, "b", group: "unconfined")
            let wrong = try tool.run(
                words: ["migrate", "--to", "system"] + socket, input: Tool.lines("wrong passcode"))
            #expect(wrong.status == 51, "\(wrong.errors)")
            #expect(try StoreHostWord(tool).text == nil)
            let there = try tool.run(words: ["migrate", "--to", "system"] + socket, input: Self.passcode)
            #expect(there.status == 0, "\(there.errors)")
            #expect(try StoreHostWord(tool).text == "system\n")
            #expect(try secrets(daemon, group: "unconfined") == ["secret of a", "secret of b"])
            #expect(try secrets(daemon, group: "keychain") == [])
            let back = try tool.run(words: ["migrate", "--to", "embedded", "--json"] + socket, input: Self.passcode)
            #expect(back.status == 0, "\(back.errors)")
            #expect(back.object["moved"] as? Int == 2)
            #expect(try StoreHostWord(tool).text == nil)
            #expect(try accounts(tool) == ["a@unconfined", "b@unconfined"])
            #expect(try tool.run("get", "generic", "--service", "s", "--account", "a").text == "secret of a")
        }
    }

    @Test("A way back that was killed after the change of hands is completed by the next one")
    func killedOnTheWayBack() throws {
        try withSystem { tool, daemon, socket in
            try add(tool, "a")
            let there = try tool.run(words: ["migrate", "--to", "system"] + socket, input: Self.passcode)
            #expect(there.status == 0, "\(there.errors)")
            // As after a kill: the programs have their store again, and the system's has the items still.
            try FileManager.default.removeItem(at: tool.store.appendingPathComponent("host"))
            try Data().write(to: tool.store.appendingPathComponent("taken-back"))
            try add(tool, "b")
            let back = try tool.run(words: ["migrate", "--to", "embedded"] + socket, input: Self.passcode)
            #expect(back.status == 0, "\(back.errors)")
            #expect(try accounts(tool) == ["a@unconfined", "b@keychain"])
            #expect(try secrets(daemon, group: "unconfined") == [])
            #expect(!FileManager.default.fileExists(atPath: tool.store.appendingPathComponent("taken-back").path))
        }
    }

    // MARK: -

    @Test("Without an answer of the daemon nothing is changed")
    func absent() throws {
        try withHomes { tool, _, _, migrate in
            try add(tool, "a")
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("Nothing was changed"), "\(outcome.errors)")
            #expect(try accounts(tool) == ["a@keychain"])
            #expect(try StoreHostWord(tool).text == nil)
        }
    }

    @Test("A keychain that is not there yet is left as well")
    func empty() throws {
        try withHomes { tool, _, daemon, migrate in
            try daemon.start()
            #expect(try tool.run(words: migrate).status == 0)
            #expect(try StoreHostWord(tool).text == "system\n")
        }
    }

    @Test("With a passcode it is asked for once, and a wrong one changes nothing")
    func passcode() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            #expect(try tool.setPasscode().status == 0)
            let wrong = try tool.run(words: migrate, input: Data("wrong\n".utf8))
            #expect(wrong.status == 51, "\(wrong.errors)")
            #expect(try accounts(system) == [])
            try tool.run("lock", "--now")
            let outcome = try tool.run(words: migrate, input: Tool.lines(Tool.passcode))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try accounts(system) == ["a@unconfined"])
        }
    }

    @Test("Protected files stop it, unless they are to stay")
    func files() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            let file = tool.home.appendingPathComponent("f").path
            try Data("content".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try tool.run("file", "protect", file).status == 0)
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("files were protected"), "\(outcome.errors)")
            #expect(try accounts(tool) == ["a@keychain"])
            #expect(try tool.run(words: migrate + ["--leave-behind"]).status == 0)
            #expect(try accounts(system) == ["a@unconfined"])
        }
    }

    @Test("Items that would become one are named, and nothing is changed")
    func clash() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            try add(tool, "a", group: "other")
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 45)
            #expect(outcome.errors.contains("would meet another one"), "\(outcome.errors)")
            #expect(try accounts(tool) == ["a@keychain", "a@other"])
            #expect(try accounts(system) == [])
            #expect(try StoreHostWord(tool).text == nil)
        }
    }

    @Test("A migration that was killed after the change of hands is completed by the next one")
    func killedLate() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            // As after a kill behind the mark: the items are here still, and an old copy there.
            try Data("system\n".utf8).write(to: tool.store.appendingPathComponent("host"))
            #expect(try tool.run("find").status == 53)
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try accounts(system) == ["a@unconfined"])
        }
    }

    @Test("What belongs to the user's daemon is taken back first")
    func ofUser() throws {
        try withHomes { tool, _, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            try tool.run("migrate", "--to", "user")
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("migrate --to embedded"), "\(outcome.errors)")
        }
    }
}
