internal import ArgumentParser
internal import KeychainModel

/// The conditions under which a new item can be read or used.
struct ItemProtection: ParsableArguments {
    @Option(help: "When the secret can be read (default: when-unlocked).") var accessible: Accessibility?
    @Option(help: "What reading the secret asks of a person; may be given several times, and all are needed then.")
    var require: [Requirement] = []
    @Flag(help: "One of several --require is enough.") var either = false

    func validate() throws { _ = try accessControl() }

    /// nil: the usual one of the class.
    func accessControl() throws -> AccessControl? {
        if require.isEmpty && !either { return accessible.map { AccessControl($0.protection) } }
        return try require.accessControl(accessible?.protection ?? .whenUnlocked, either: either)
    }

    /// The access control for the use of a key in the engine.
    func accessControlOfUse() throws -> AccessControl {
        try require.accessControl(accessible?.protection ?? .whenUnlocked, either: either, adding: .privateKeyUsage)
    }
}
