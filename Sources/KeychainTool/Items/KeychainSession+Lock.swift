internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

extension KeychainSession {
    /// A session for a command that makes sense only with a passcode.
    ///
    /// - Throws: `.noPasscode` if no passcode is set, `.itemNotFound` if there is no store yet.
    static func withPasscode(_ options: StoreOptions) throws(KeychainError) -> (KeychainSession, LockStatus) {
        let session = try existing(options)
        let status = try session.connection.lockStatus()
        guard status.hasPasscode else {
            throw KeychainError(
                .noPasscode,
                message: "no passcode is set, so the keychain is never locked; 'keychainctl passcode set' sets one")
        }
        return (session, status)
    }

    /// Throws before a person types a passcode that would be of no use.
    ///
    /// - Throws: as ``withPasscode(_:)`` does, and `.authenticationFailed` while the keychain looks at no passcode.
    static func requirePasscode(_ options: StoreOptions) throws(KeychainError) {
        let (_, status) = try withPasscode(options)
        guard status.secondsUntilNextAttempt == 0 else {
            let wait = DurationText.text(seconds: Int(status.secondsUntilNextAttempt.rounded(.up)))
            throw KeychainError(
                .authenticationFailed,
                message: "after \(status.failedAttempts) wrong answers none is looked at for another \(wait)")
        }
    }

    /// - Throws: `.duplicateItem` if a passcode is set.
    static func requireNoPasscode(_ options: StoreOptions) throws(KeychainError) {
        let session = try KeychainSession(options)
        if session.presence == .present, try session.connection.lockStatus().hasPasscode {
            throw .passcodeIsSet
        }
    }

    /// Stores items with `body`. A person who stores the first ones is warned if no passcode protects them.
    func storing<R>(_ body: () throws -> R) rethrows -> R {
        let isFirst = presence == .absent
        let result = try body()
        if isFirst { noteIfNeverLocked() }
        return result
    }

    func noteIfNeverLocked() {
        guard Console.errorIsTerminal, let status = try? connection.lockStatus(), !status.hasPasscode else { return }
        Console.note(
            "note: no passcode is set, so nothing is ever locked, and a thief of the whole home directory reads "
                + "everything: 'keychainctl passcode set' sets one")
    }
}

extension LockStatus {
    private static let withoutWatcher =
        "nothing locks the keychain when this session is locked or the machine goes to sleep"

    static let warningOfNoLogind = withoutWatcher + ": keychaind has no systemd-logind to hear it from"

    var warningOfNoWatcher: String {
        keyPlace == .daemon ? Self.warningOfNoLogind : Self.withoutWatcher + ", until 'keychainctl watch' runs"
    }

    /// Warns a person who has just unlocked the keychain that nothing locks it again.
    func noteIfUnwatched() {
        if Console.errorIsTerminal && !isWatched { Console.note("note: " + warningOfNoWatcher) }
    }
}
