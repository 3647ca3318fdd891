/// The set-up of one tool.
protocol ToolSetup: Sendable {
    static var summary: String { get }
    /// Whether the tool starts the command `keyring` (``KeyringLink``).
    static var usesKeyring: Bool { get }
    /// Plans the changes, and makes none.
    ///
    /// - Throws: ``SetupFailure`` for a file that cannot be changed safely. The message has the lines to write by hand.
    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan
}

extension ToolSetup {
    static var usesKeyring: Bool { false }
}
