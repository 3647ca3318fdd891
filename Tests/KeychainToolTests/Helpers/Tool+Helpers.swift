import Foundation
import KeychainTestSupport

extension Tool {
    static let helperNames = [
        "git-credential-keychain", "docker-credential-keychain", "cargo-credential-keychain", "keyring",
        "keychain-secret",
    ]

    var helperDirectory: URL { home.appendingPathComponent("helpers") }

    /// The same with the helpers in its PATH, each a link to the command, as they are installed.
    func withHelpersInPath() throws -> Tool {
        try FileManager.default.createDirectory(at: helperDirectory, withIntermediateDirectories: true)
        for name in Self.helperNames + ["keychain-helper"] {
            try FileManager.default.createSymbolicLink(
                at: helperDirectory.appendingPathComponent(name),
                withDestinationURL: BuiltProducts.url(of: "keychainctl"))
        }
        var tool = self
        tool.variables["PATH"] = helperDirectory.path + ":" + BuiltProducts.installed.path + ":/usr/bin:/bin"
        return tool
    }

    /// Runs a helper as its tool does.
    @discardableResult
    func helper(_ name: String, _ arguments: String..., input: String = "") throws -> Outcome {
        try start(helperDirectory.appendingPathComponent(name), arguments, input: Data(input.utf8))
    }

    @discardableResult
    func git(_ operation: String, _ lines: String...) throws -> Outcome {
        try start(
            helperDirectory.appendingPathComponent("git-credential-keychain"), [operation],
            input: Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}

/// Runs `body` with the command, the helpers and an empty home directory.
func withHelpers(_ body: (Tool) throws -> Void) throws {
    try withTool { (tool) throws in try body(try tool.withHelpersInPath()) }
}

/// The same with a keychain that has a passcode and is locked.
func withHelpersLocked(after prepare: (Tool) throws -> Void, _ body: (Tool) throws -> Void) throws {
    try withHelpers { (tool) throws in
        defer { tool.dropKeys() }
        try prepare(tool)
        try tool.setPasscode()
        try tool.run("lock", "--now")
        try body(tool)
    }
}
