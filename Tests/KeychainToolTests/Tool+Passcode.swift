import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

extension Tool {
    static let passcode = "open sesame"
    static let otherPasscode = "a better one"

    /// Whether the kernel lends its keyring here, so that one command can unlock for the next.
    static let sharesKeys: Bool = {
        var place: String?
        try? withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.setPasscode()
            place = try tool.lockStatus["keys"] as? String
        }
        return place != "process"
    }()

    /// Passcodes as a script gives them, one a line.
    static func lines(_ passcodes: String...) -> Data {
        Data(passcodes.map { $0 + "\n" }.joined().utf8)
    }

    @discardableResult
    func setPasscode(_ passcode: String = Self.passcode) throws -> Outcome {
        try run("passcode", "set", input: Self.lines(passcode, passcode))
    }

    /// As the command does, but so that to check it takes microseconds and not a third of a second: the keychain itself says
    /// what checking takes.
    func setCheapPasscode() throws {
        var configuration = EngineConfiguration(storeDirectory: store, deviceKeyDirectory: deviceKey)
        configuration.passcodeCost = 4
        try Engine(configuration).setPasscode(Self.passcode)
    }

    @discardableResult
    func unlock(_ passcode: String = Self.passcode) throws -> Outcome {
        try run("unlock", input: Self.lines(passcode))
    }

    /// Adds a password of the given accessibility.
    @discardableResult
    func add(_ account: String, accessible: String = "when-unlocked") throws -> Outcome {
        try run(
            "add", "generic", "--service", "s", "--account", account, "--accessible", accessible,
            input: Data("secret".utf8))
    }

    /// The object `lock` of `status --json`.
    var lockStatus: [String: Any] {
        get throws { try run("status", "--json").object["lock"] as? [String: Any] ?? [:] }
    }

    var hasPasscode: Bool {
        get throws { try lockStatus["passcode"] as? Bool ?? false }
    }

    /// Takes back what a test's store left with the kernel: without a passcode it has no keys there.
    func dropKeys() {
        do {
            for passcode in [Self.passcode, Self.otherPasscode] where try hasPasscode {
                try run("passcode", "remove", "--yes", input: Self.lines(passcode))
            }
            #expect(try !hasPasscode, "the store's keys stay in the kernel's keyring")
        } catch {
            Issue.record(error)
        }
    }
}

/// Runs `body` with the command and a keychain that has a passcode and is unlocked.
func withPasscode(_ body: (Tool) throws -> Void) throws {
    try withTool { (tool) throws in
        defer { tool.dropKeys() }
        try tool.setCheapPasscode()
        try body(tool)
    }
}
