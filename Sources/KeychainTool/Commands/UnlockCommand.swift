internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

struct UnlockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Bring the keys into reach of every program of this user.",
        discussion: """
            The passcode comes from a line of standard input, or from a prompt. A renewal of all keys that was \
            interrupted is finished.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Print the state of the lock as a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        try KeychainSession.requirePasscode(store)
        let passcode = try PasscodeInput.readPresent()
        let renewal = RenewalObserver()
        defer { renewal.end() }
        let status = try renewal.whileWaiting {
            let (session, _) = try KeychainSession.withPasscode(store)
            return try session.connection.unlock(passcode, report: renewal.report)
        }
        renewal.end()
        guard status.keyPlace != .process else { throw KeychainError.unlockedForNobody }
        if json { try status.writeJSON() }
        status.noteIfUnwatched()
        if status.isRekeying { status.noteUnfinishedRenewal() }
    }
}

extension KeychainError {
    /// The command alone has the keys, and they end with it. Silence would mean success.
    fileprivate static var unlockedForNobody: KeychainError {
        KeychainError(
            .notAvailable,
            message: "the passcode is right, but the kernel's keyring takes no keys here, or no more of this user's "
                + "(/proc/key-users): every program has to unlock for itself, and this command can do it for none. "
                + "'keychainctl doctor' names the stores that take the room")
    }
}
