internal import Foundation
internal import KeychainClient
internal import KeychainModel

extension Demo {
    static let passcode = SecretBytes(copying: Data(Sample.passcode.utf8))
    private static let wrongPasscode = SecretBytes(copying: Data("not the passcode".utf8))

    private var bank: ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.service: .text(Sample.service), .account: .text("bank")]
        return query
    }

    /// A passcode is set, and the lock refuses the secrets until the right passcode unlocks them.
    func showLock() throws {
        try narrator.chapter("The lock")
        try asApp([Sample.group]) { app in
            let outcome = Result {
                try showLock(app)
                try showFile(app)
                try showRemoval(app)
            }
            // The passcode goes after a failure too: the kernel would keep the unlocked keys of a store that is gone.
            try removePasscode(app)
            try outcome.get()
        }
    }

    private func showLock(_ app: Connection) throws {
        try narrator.step("The owner sets a passcode, and all keys are made anew.") { () throws(KeychainError) in
            try app.perform(.set(Self.passcode)) { _ in }
        }
        try narrator.step("\"notes\" stores a password that can be read only while unlocked.") {
            () throws(KeychainError) in try addBank(app)
        }
        try narrator.step("The owner locks the keychain.") { () throws(KeychainError) in
            try app.lock(.now)
        }
        try narrator.step("The password is refused: locked is never \"not found\".", expecting: .interactionNotAllowed)
        { () throws(KeychainError) in
            try readBank(app)
        }
        try narrator.step("Someone tries a wrong passcode.", expecting: .authenticationFailed) {
            () throws(KeychainError) in
            _ = try app.unlock(Self.wrongPasscode) { _ in }
        }
        try narrator.step("The owner unlocks with the right one, and the password is read again.") {
            () throws(KeychainError) in
            _ = try app.unlock(Self.passcode) { _ in }
            try readBank(app)
        }
    }

    private func showRemoval(_ app: Connection) throws {
        try narrator.chapter("The end of the lock")
        try narrator.step("The owner removes the passcode: from here on the keychain is never locked.") {
            () throws(KeychainError) in try app.perform(.remove(old: Self.passcode)) { _ in }
        }
    }

    private func addBank(_ app: Connection) throws(KeychainError) {
        var request = AddRequest(.genericPassword)
        request.attributes = bank.attributes
        request.accessControl = AccessControl(.whenUnlocked)
        request.secret = SecretBytes(copying: Data(Sample.password.utf8))
        _ = try app.ask(.add(request))
    }

    private func readBank(_ app: Connection) throws(KeychainError) {
        try readSecret(bank, expecting: Data(Sample.password.utf8), as: app)
    }

    /// Removes the passcode if the chapter has not.
    private func removePasscode(_ app: Connection) throws {
        guard try app.lockStatus().hasPasscode else { return }
        // The unlock first finishes a change that was stopped half done.
        _ = try app.unlock(Self.passcode) { _ in }
        try app.perform(.remove(old: Self.passcode)) { _ in }
    }
}
