import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainEngine

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

    /// Takes back what a test's store left with the kernel, without its passcode, which takes a third of a second to check.
    func dropKeys() {
        guard let place = StorePlace(store) else { return }
        KernelKeyring.ofUser?.removeAll { $0.contains(":\(place.name):") }
    }
}

/// Runs `body` with the command and a keychain that has a passcode and is unlocked.
func withPasscode(_ body: (Tool) throws -> Void) throws {
    try withTool { (tool) throws in
        defer { tool.dropKeys() }
        try tool.setPasscode()
        try body(tool)
    }
}
