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

        func host() throws -> String {
            let choice = HostChoice(
                environment: Environment(variables: variables), machineFile: machineFile, user: 7)
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
