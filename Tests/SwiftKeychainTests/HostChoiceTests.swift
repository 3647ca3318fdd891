import Foundation
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

/// Where the engine runs: who is heard before whom.
@Suite struct HostChoiceTests {
    /// A home with a store's directory in it, and a file of the administrator's.
    private struct Machine {
        let directory: URL
        var variables: [String: String]
        var configuration = KeychainConfiguration()

        var store: URL { directory.appendingPathComponent("data/keychain") }
        var machineFile: URL { directory.appendingPathComponent("host") }

        init(_ directory: URL) throws {
            self.directory = directory
            variables = [
                "HOME": directory.path, "XDG_DATA_HOME": directory.appendingPathComponent("data").path,
                "XDG_RUNTIME_DIR": "/run/somewhere",
            ]
            try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        }

        func host(fileGroup: FileGroup? = nil) throws -> String {
            let choice = HostChoice(
                environment: Environment(variables: variables), machineFile: machineFile, user: 7, fileGroup: fileGroup)
            switch try choice.host(for: configuration) {
            case .embedded(let location): return "embedded " + location.storeDirectory.lastPathComponent
            case .daemon(let address): return address.path
            }
        }
    }

    private let userSocket = "/run/somewhere/keychain/socket"

    @Test("Each is heard only if nobody before it has said anything")
    func order() throws {
        try withTemporaryDirectory { directory in
            var machine = try Machine(directory)
            #expect(try machine.host() == "embedded keychain")
            try Data("user\n".utf8).write(to: machine.store.appendingPathComponent("host"))
            #expect(try machine.host() == userSocket)
            try Data("# of this machine\n\n unix:/run/machine \n".utf8).write(to: machine.machineFile)
            #expect(try machine.host() == "/run/machine")
            machine.variables["KEYCHAIN_HOME"] = "/elsewhere/home"
            #expect(try machine.host() == "embedded home")
            machine.variables["KEYCHAIN_HOST"] = "unix:/run/variable"
            #expect(try machine.host() == "/run/variable")
            machine.configuration.storeDirectory = URL(fileURLWithPath: "/elsewhere/code")
            #expect(try machine.host() == "embedded code")
            machine.configuration.host = .socket(URL(fileURLWithPath: "/run/code"))
            #expect(try machine.host() == "/run/code")
        }
    }

    @Test("The advice for a daemon that does not answer names the administrator's file that leads there")
    func advice() throws {
        try withTemporaryDirectory { directory in
            let machine = try Machine(directory)
            let mark = machine.store.appendingPathComponent("host")
            for (file, isNamed) in [(mark, false), (machine.machineFile, true)] {
                try Data("user\n".utf8).write(to: file)
                let choice = HostChoice(
                    environment: Environment(variables: machine.variables), machineFile: machine.machineFile, user: 7,
                    fileGroup: nil)
                guard case .daemon(let address) = try choice.host(for: machine.configuration) else {
                    Issue.record("the host is no daemon")
                    return
                }
                #expect(address.advice.contains("systemctl --user start"))
                #expect(address.advice.contains(machine.machineFile.path) == isNamed)
            }
        }
    }

    @Test("Where a program has a group by its file, no other program of its user chooses its host")
    func fileGroup() throws {
        try withTemporaryDirectory { directory in
            var machine = try Machine(directory)
            let program = directory.appendingPathComponent("program").path
            try Data().write(to: URL(fileURLWithPath: program))
            #expect(chmod(program, 0o2755) == 0)
            let group = try #require(FileGroup(ofProgram: program))
            let mark = machine.store.appendingPathComponent("host")
            // The kernel has the variables ignored; the mark, or its absence, is not believed.
            for word in [nil, "user\n", "system\n"] {
                try word.map { try Data($0.utf8).write(to: mark) }
                #expect(try machine.host(fileGroup: group) == "/run/keychain/socket")
            }
            // A process without the group is refused, before anything that others may have chosen counts.
            let lost = try #require(FileGroup(ofProgram: program, effectiveGroup: getegid() &+ 1))
            for variables in [[:], ["KEYCHAIN_HOST": "embedded"], ["KEYCHAIN_HOME": "/elsewhere/home"]] {
                machine.variables.merge(variables) { $1 }
                let error = #expect(throws: KeychainError.self) { try machine.host(fileGroup: lost) }
                #expect(error?.code == .missingEntitlement)
            }
            // root's file and the program's own code say more.
            machine.variables = ["HOME": directory.path]
            try Data("unix:/run/machine\n".utf8).write(to: machine.machineFile)
            #expect(try machine.host(fileGroup: group) == "/run/machine")
            machine.configuration.host = .embedded
            #expect(try machine.host(fileGroup: lost).hasPrefix("embedded"))
        }
    }

    @Test("Nobody finds a host for a keychain whose items are being moved")
    func moving() throws {
        try withTemporaryDirectory { directory in
            let machine = try Machine(directory)
            try Data("moving\n".utf8).write(to: machine.store.appendingPathComponent("host"))
            let error = #expect(throws: KeychainError.self) { try machine.host() }
            #expect(error?.message.contains("'keychainctl migrate' was cut short, run it again") == true)
        }
    }

    @Test(
        "The store changes hands unless programs that find it would not find it then",
        arguments: [
            ("embedded", "system", StoreHost.embedded, StoreHost.user, "KEYCHAIN_HOST"),
            ("user", "embedded", .embedded, .user, "host"), ("unix:own", "", .user, .embedded, "KEYCHAIN_HOST"),
            ("", "user", .user, .embedded, "host"), ("", "system", .user, .embedded, nil),
            ("user", "", .embedded, .user, nil), ("unix:own", "user", .embedded, .user, nil),
            ("", "", .user, .embedded, nil),
        ] as [(String, String, StoreHost, StoreHost, String?)])
    func handing(variable: String, file: String, present: StoreHost, next: StoreHost, origin: String?) throws {
        try withTemporaryDirectory { directory in
            var machine = try Machine(directory)
            machine.variables["KEYCHAIN_HOST"] = variable.replacing("own", with: userSocket)
            try Data(file.utf8).write(to: machine.machineFile)
            let choice = HostChoice(
                environment: Environment(variables: machine.variables), machineFile: machine.machineFile, user: 7,
                fileGroup: nil)
            let said = try choice.detour(from: present, to: next)
            guard let origin else {
                #expect(said == nil)
                return
            }
            let start = origin == "host" ? machine.machineFile.path : origin
            #expect(said?.hasPrefix(start) == true, "\(said ?? "nothing")")
        }
    }

    @Test("Items are moved only where programs go by the mark: of the usual store, with no other word for the host")
    func markCounts() throws {
        try withTemporaryDirectory { directory in
            var machine = try Machine(directory)
            func refusal(_ host: StoreHost, _ store: URL? = nil) throws -> String? {
                let choice = HostChoice(
                    environment: Environment(variables: machine.variables), machineFile: machine.machineFile, user: 7,
                    fileGroup: nil)
                var configuration = KeychainConfiguration()
                configuration.storeDirectory = store
                let location = try StoreLocation(configuration, environment: choice.environment)
                do throws(KeychainError) {
                    try choice.requireUsual(location)
                    return try choice.detour(from: host)
                } catch {
                    return error.message
                }
            }
            for host in [StoreHost.system, .embedded, .user] { #expect(try refusal(host) == nil) }
            #expect(try refusal(.system, directory.appendingPathComponent("other"))?.contains("--store") == true)
            machine.variables["KEYCHAIN_HOME"] = directory.appendingPathComponent("ci").path
            #expect(try refusal(.embedded)?.contains("KEYCHAIN_HOME") == true)
            machine.variables["KEYCHAIN_HOME"] = nil
            try Data("system\n".utf8).write(to: machine.machineFile)
            #expect(try refusal(.system) == nil)
            #expect(try refusal(.embedded)?.contains(machine.machineFile.path) == true)
            try Data().write(to: machine.machineFile)
            machine.variables["KEYCHAIN_HOST"] = "embedded"
            #expect(try refusal(.embedded) == nil)
            #expect(try refusal(.system)?.contains("KEYCHAIN_HOST") == true)
        }
    }

    @Test("Every word for a host means what it says")
    func words() throws {
        try withTemporaryDirectory { directory in
            var machine = try Machine(directory)
            for (word, expected) in [
                ("embedded", "embedded keychain"), ("user", userSocket), ("system", "/run/keychain/socket"),
                ("unix:/a/b", "/a/b"), ("", "embedded keychain"),
            ] {
                machine.variables["KEYCHAIN_HOST"] = word
                #expect(try machine.host() == expected)
            }
            machine.variables["KEYCHAIN_HOST"] = "user"
            machine.variables["XDG_RUNTIME_DIR"] = nil
            #expect(try machine.host() == "/run/user/7/keychain/socket")
        }
    }

    @Test(
        "A word that means nothing is an error that names where it stands",
        arguments: ["Embedded", "users", "unix:relative", "unix:", "tcp://x"])
    func nonsense(word: String) throws {
        try withTemporaryDirectory { directory in
            var machine = try Machine(directory)
            machine.variables["KEYCHAIN_HOST"] = word
            let error = #expect(throws: KeychainError.self) { try machine.host() }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains("KEYCHAIN_HOST") == true)
            machine.variables["KEYCHAIN_HOST"] = nil
            try Data(word.utf8).write(to: machine.machineFile)
            let other = #expect(throws: KeychainError.self) { try machine.host() }
            #expect(other?.message.contains(machine.machineFile.path) == true)
        }
    }

    @Test("A file that cannot be read is an error, and never another host")
    func unreadable() throws {
        try withTemporaryDirectory { directory in
            let machine = try Machine(directory)
            // Opening a directory works, reading it does not: for root too.
            try FileManager.default.createDirectory(at: machine.machineFile, withIntermediateDirectories: false)
            #expect(throws: KeychainError.self) { try machine.host() }
        }
    }
}
