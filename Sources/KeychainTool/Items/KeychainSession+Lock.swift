internal import KeychainModel
internal import SwiftKeychain

extension KeychainSession {
    /// For a command that makes sense only if there is a passcode.
    ///
    /// - Throws: `.noPasscode` if there is none, `.itemNotFound` if there is no store yet.
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

    /// Before a person is asked for a passcode that would be of no use.
    static func requirePasscode(_ options: StoreOptions) throws(KeychainError) { _ = try withPasscode(options) }

    /// - Throws: `.duplicateItem` if a passcode is set.
    static func requireNoPasscode(_ options: StoreOptions) throws(KeychainError) {
        let session = try KeychainSession(options)
        if session.presence == .present, try session.connection.lockStatus().hasPasscode {
            throw .passcodeIsSet
        }
    }

    /// Tells a person who stores the first secrets what they are not protected from.
    func noteIfNeverLocked() {
        guard Console.errorIsTerminal, let status = try? connection.lockStatus(), !status.hasPasscode else { return }
        Console.note(
            "note: no passcode is set, so nothing is ever locked, and a thief of the whole home directory reads "
                + "everything: 'keychainctl passcode set' sets one")
    }
}

extension LockStatus {
    static let warningOfNoWatcher =
        "nothing locks the keychain when this session is locked or the machine goes to sleep, until 'keychainctl watch' "
        + "runs"

    /// Tells a person who has just unlocked that it will stay so.
    func noteIfUnwatched() {
        if Console.errorIsTerminal && !isWatched { Console.note("note: " + Self.warningOfNoWatcher) }
    }
}
