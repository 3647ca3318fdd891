import Foundation
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

/// `migrate` to a daemon with a store of its own, and back.
@Suite struct SystemMigrationTests {
    // MARK: A daemon with the requests of an owner

    /// Runs `body` with the command on two homes: of a person, and of a daemon; and with the words of a migration. A user's
    /// daemon is in the system's place, which takes the command for the owner without a question.
    private func withHomes(_ body: (Tool, Tool, DaemonProcess, [String]) throws -> Void) throws {
        try withTool { tool in
            defer { tool.dropKeys() }
            try withTool { other in
                defer { other.dropKeys() }
                let daemon = try DaemonOfHome(other)
                defer { daemon.process.kill() }
                try other.run("migrate", "--to", "user")
                // The mark is the user's; the command is told where the daemon is.
                var system = other
                system.variables["KEYCHAIN_HOST"] = "unix:" + daemon.process.socket
                try body(
                    tool, system, daemon.process, ["migrate", "--to", "system", "--socket", daemon.process.socket])
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

    private func mark(_ tool: Tool) -> String? {
        try? String(contentsOf: tool.store.appendingPathComponent("host"), encoding: .utf8)
    }

    private func set(_ mark: String, _ tool: Tool) throws {
        try Data((mark + "\n").utf8).write(to: tool.store.appendingPathComponent("host"))
    }

    @Test("Everything goes over into one group, the mark changes, and nothing is left; once more is nothing more")
    func whole() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            try add(tool, "b", group: "kept", "--accessible", "after-first-unlock-this-device-only")
            let rehearsal = try tool.run(words: migrate + ["--dry-run", "--json"])
            #expect(rehearsal.status == 0, "\(rehearsal.errors)")
            #expect(rehearsal.object["moved"] as? Int == 2)
            #expect(try accounts(tool) == ["a@keychain", "b@kept"])
            #expect(mark(tool) == nil)
            #expect(try accounts(system) == [])
            for _ in 0..<2 {
                let outcome = try tool.run(words: migrate + ["--json"])
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(mark(tool) == "system\n")
                #expect(try accounts(system) == ["a@unconfined", "b@unconfined"])
            }
            #expect(try system.run("get", "generic", "--service", "s", "--account", "a").text == "secret of a")
            // The old place refuses to answer.
            let refused = try tool.run("find", "--store", tool.store.path, "--device-key", tool.deviceKey.path)
            #expect(refused.status == 53)
        }
    }

    @Test("Only the usual keychain of the user is moved")
    func otherStore() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            let other = ["--store", tool.home.appendingPathComponent("other").path]
            let outcome = try tool.run(words: migrate + other)
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("without --store"), "\(outcome.errors)")
            var moved = tool
            moved.variables["KEYCHAIN_HOME"] = tool.home.appendingPathComponent("other").path
            let others = try moved.run(words: migrate)
            #expect(others.status == 53 && others.errors.contains("KEYCHAIN_HOME"), "\(others.errors)")
            #expect(try accounts(system) == [])
        }
    }

    @Test("Without an answer of the daemon nothing is changed")
    func absent() throws {
        try withHomes { tool, _, _, migrate in
            try add(tool, "a")
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 53)
            #expect(try accounts(tool) == ["a@keychain"])
            #expect(mark(tool) == nil)
        }
    }

    @Test("A keychain that is not there yet is left as well")
    func empty() throws {
        try withHomes { tool, _, daemon, migrate in
            try daemon.start()
            #expect(try tool.run(words: migrate + ["--dry-run"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: tool.database.path))
            #expect(try tool.run(words: migrate).status == 0)
            #expect(mark(tool) == "system\n")
        }
    }

    @Test("What a passcode locks here does not lie open there, and a wrong passcode changes nothing")
    func passcode() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            #expect(try tool.setPasscode().status == 0)
            let open = try tool.run(words: migrate, input: Tool.lines(Tool.passcode))
            #expect(open.errors.contains("would lie open there"), "\(open.errors)")
            #expect(try system.setPasscode(Tool.otherPasscode).status == 0)
            for wrong in [["wrong", Tool.otherPasscode], [Tool.passcode, "wrong"]] {
                let outcome = try tool.run(words: migrate, input: Tool.lines(wrong[0], wrong[1]))
                #expect(outcome.status == 51, "\(outcome.errors)")
                #expect(mark(tool) == nil)
            }
            try tool.run("lock", "--now")
            let outcome = try tool.run(words: migrate, input: Tool.lines(Tool.passcode, Tool.otherPasscode))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(mark(tool) == "system\n")
        }
    }

    @Test("Protected files stop it, unless they are to stay; then that is said")
    func files() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            let file = tool.home.appendingPathComponent("f").path
            try Data("content".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try tool.run("file", "protect", file).status == 0)
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("protected files"), "\(outcome.errors)")
            #expect(try accounts(tool) == ["a@keychain"])
            let left = try tool.run(words: migrate + ["--leave-behind"])
            #expect(left.status == 0, "\(left.errors)")
            #expect(left.errors.contains("left behind, and not usable now: protected files"), "\(left.errors)")
            #expect(try accounts(system) == ["a@unconfined"])
        }
    }

    @Test("Items that would become one are named, nothing is changed, and the keychain is open again")
    func clash() throws {
        try withHomes { tool, system, daemon, migrate in
            try daemon.start()
            try add(tool, "a")
            try add(tool, "a", group: "other")
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 45)
            #expect(outcome.errors.contains("would meet another one"), "\(outcome.errors)")
            #expect(mark(tool) == nil)
            #expect(try accounts(tool) == ["a@keychain", "a@other"])
            #expect(try accounts(system) == [])
        }
    }

    @Test("A move that was killed leaves a closed keychain, and goes on when it is run again, or goes back")
    func killed() throws {
        for target in ["system", "embedded"] {
            try withSystem { tool, daemon, socket in
                try add(tool, "a")
                try set("moving", tool)
                let refused = try tool.run("find")
                #expect(refused.status == 53 && refused.errors.contains("run it again"), "\(refused.errors)")
                #expect(try tool.run("migrate", "--to", "user").status == 53)
                var system = tool
                system.variables["KEYCHAIN_HOST"] = "unix:" + socket[1]
                for command in [["status"], ["status", "--verbose"], ["doctor"]] {
                    #expect(try system.run(words: command).text.contains("being moved, or that was cut short"))
                }
                let outcome = try tool.run(words: ["migrate", "--to", target] + socket, input: Self.passcode)
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(mark(tool) == (target == "system" ? "system\n" : nil))
                try daemon.carrier.unlockSystem()
                #expect(try secrets(daemon, group: "unconfined") == (target == "system" ? ["secret of a"] : []))
                if target == "embedded" { #expect(try here(tool) == ["secret of a"]) }
            }
        }
    }

    @Test(
        "What was copied before the move was cut short is not copied again, and a detour does not keep it from its end")
    func moved() throws {
        for target in ["system", "embedded"] {
            try withSystem { tool, daemon, socket in
                try add(tool, "a")
                try set("moved", tool)
                var elsewhere = tool
                elsewhere.variables["KEYCHAIN_HOST"] = "user"
                let outcome = try elsewhere.run(
                    words: ["migrate", "--to", target] + socket, input: Self.passcode)
                #expect(outcome.status == 0 && outcome.errors.contains("note: KEYCHAIN_HOST"), "\(outcome.errors)")
                #expect(mark(tool) == (target == "system" ? "system\n" : nil))
                try daemon.carrier.unlockSystem()
                #expect(try secrets(daemon, group: "unconfined") == [])
                if target == "embedded" { #expect(try here(tool) == []) }
            }
        }
    }

    @Test("The usual store does not change hands where a variable leads programs to another host")
    func detour() throws {
        try withTool { tool in
            try add(tool, "a")
            for (target, variable) in [("user", "embedded"), ("embedded", "user")] {
                if target == "embedded" { try set("user", tool) }
                var elsewhere = tool
                elsewhere.variables["KEYCHAIN_HOST"] = variable
                let before = mark(tool)
                let outcome = try elsewhere.run("migrate", "--to", target)
                #expect(outcome.status == 53 && mark(tool) == before)
                #expect(outcome.errors.contains("KEYCHAIN_HOST leads programs"), "\(outcome.errors)")
            }
            // Programs that are led elsewhere already lose nothing.
            var elsewhere = tool
            elsewhere.variables["KEYCHAIN_HOST"] = "system"
            #expect(try elsewhere.run("migrate", "--to", "embedded", "--quiet").status == 0)
            elsewhere.variables["KEYCHAIN_HOST"] = "embedded"
            let usual = tool.store.deletingLastPathComponent().path + "/../data/keychain"
            #expect(try elsewhere.run("migrate", "--to", "user", "--store", usual).status == 53)
            let other = tool.home.appendingPathComponent("other").path
            let outcome = try elsewhere.run("migrate", "--to", "user", "--store", other)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }

    @Test("Without the daemon a move that was cut short cannot be completed, and that is said")
    func cutAndAbsent() throws {
        try withHomes { tool, _, _, migrate in
            try add(tool, "a")
            try set("moving", tool)
            let outcome = try tool.run(words: migrate)
            #expect(outcome.status == 53 && outcome.errors.contains("the keychain stays closed"), "\(outcome.errors)")
            #expect(mark(tool) == "moving\n")
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

    // MARK: A daemon of the system's kind

    /// Runs `body` with a daemon that takes every client that claims to be the owner for one that has to show the passcode.
    private func withSystem(_ body: (Tool, InProcessDaemon, [String]) throws -> Void) throws {
        try withTool { tool in
            defer { tool.dropKeys() }
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

    private static let passcode = Tool.lines("of the system")

    private func secrets(_ daemon: InProcessDaemon, group: String) throws -> [String] {
        let caller = Caller(groups: [group])
        return try secrets { request throws(KeychainError) in
            do throws(KeychainError) {
                return try daemon.carrier.handle(request, from: caller)
            } catch  where error.signal == .otherHost {
                // A move has ended its connection.
                return try daemon.carrier.handle(request, from: caller)
            }
        }
    }

    /// The secrets in this user's own store, which has the system's passcode.
    private func here(_ tool: Tool) throws -> [String] {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = tool.store
        configuration.deviceKeyDirectory = tool.deviceKey
        configuration.accessGroups = ["keychain", "unconfined"]
        let connection = Connection(configuration)
        _ = try connection.unlock(.of("of the system")) { _ in }
        return try secrets { request throws(KeychainError) in try connection.perform(request) }
    }

    private func secrets(_ handle: (Request) throws(KeychainError) -> Reply) throws -> [String] {
        var query = ItemQuery(.genericPassword)
        query.limit = .all
        let request = Request.find(FindRequest(query, wantsSecrets: true))
        let reply = Result { () throws(KeychainError) in try handle(request) }
        if case .failure(let error) = reply, error.code == .itemNotFound { return [] }
        guard case .found(let items) = try reply.get() else { return ["another reply"] }
        return items.map { String(decoding: $0.secret?.copyData() ?? Data(), as: UTF8.self) }.sorted()
    }

    @Test("There and back: confined programs keep what is theirs, and what was locked there is locked here")
    func thereAndBack() throws {
        try withSystem { tool, daemon, socket in
            try add(tool, "a")
            try add(tool, "b", group: "unconfined")
            let wrong = try tool.run(
                words: ["migrate", "--to", "system"] + socket, input: Tool.lines("wrong passcode"))
            #expect(wrong.status == 51, "\(wrong.errors)")
            #expect(mark(tool) == nil)
            let there = try tool.run(words: ["migrate", "--to", "system"] + socket, input: Self.passcode)
            #expect(there.status == 0, "\(there.errors)")
            #expect(mark(tool) == "system\n")
            #expect(try daemon.carrier.lockState() != .unlocked, "it is locked as it was before")
            try daemon.carrier.unlockSystem()
            #expect(try secrets(daemon, group: "unconfined") == ["secret of a", "secret of b"])
            var own = AddRequest(.genericPassword)
            own.attributes = [.service: .text("s"), .account: .text("a")]
            own.secret = .of("of the mailer")
            _ = try daemon.carrier.handle(.add(own), from: Caller(groups: ["mailers"]))
            own.attributes = [.service: .text("s"), .account: .text("c")]
            own.secret = .of("secret of c")
            own.accessControl = AccessControl(.whenPasscodeSetThisDeviceOnly)
            _ = try daemon.carrier.handle(.add(own), from: Caller(groups: ["unconfined"]))
            let back = try tool.run(words: ["migrate", "--to", "embedded", "--json"] + socket, input: Self.passcode)
            #expect(back.status == 0, "\(back.errors)")
            #expect(back.object["moved"] as? Int == 3)
            #expect(mark(tool) == nil)
            #expect(try secrets(daemon, group: "mailers") == ["of the mailer"])
            #expect(try secrets(daemon, group: "unconfined") == [])
            #expect(try here(tool) == ["secret of a", "secret of b", "secret of c"])
        }
    }

    @Test("A rehearsal leaves both keychains as they were, also their locks")
    func rehearsal() throws {
        try withSystem { tool, daemon, socket in
            try add(tool, "a")
            let outcome = try tool.run(
                words: ["migrate", "--to", "system", "--dry-run"] + socket, input: Self.passcode)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try daemon.carrier.lockState() != .unlocked)
            #expect(mark(tool) == nil)
            #expect(try accounts(tool) == ["a@keychain"])
        }
    }

    @Test("Files that are protected with the system's keychain stop the way back, and the programs stay there")
    func filesOfSystem() throws {
        try withSystem { tool, daemon, socket in
            try add(tool, "a")
            let there = try tool.run(words: ["migrate", "--to", "system"] + socket, input: Self.passcode)
            #expect(there.status == 0, "\(there.errors)")
            try daemon.carrier.unlockSystem()
            _ = try daemon.carrier.handle(
                .fileKey(.make(.always, fileID: UUID())), from: Caller(groups: ["unconfined"]))
            let back = try tool.run(words: ["migrate", "--to", "embedded"] + socket, input: Self.passcode)
            #expect(back.status == 53 && back.errors.contains("protected files"), "\(back.errors)")
            #expect(mark(tool) == "system\n")
            #expect(try secrets(daemon, group: "unconfined") == ["secret of a"])
            let left = try tool.run(
                words: ["migrate", "--to", "embedded", "--leave-behind"] + socket, input: Self.passcode)
            #expect(left.status == 0, "\(left.errors)")
            #expect(try here(tool) == ["secret of a"])
        }
    }
}

extension SocketCarrier {
    fileprivate func lockState() throws -> LockState {
        guard case .lockStatus(let status) = try handle(.lockStatus, from: Caller(groups: ["any"])) else {
            throw KeychainError.unexpectedReply
        }
        return status.state
    }

    fileprivate func unlockSystem() throws {
        _ = try handle(.unlock(.of("of the system")), from: Caller(groups: ["any"]))
    }
}
