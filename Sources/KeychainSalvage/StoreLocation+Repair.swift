internal import KeychainEngine
package import KeychainModel

extension StoreLocation {
    /// Saves the readable items of a damaged store into a new one, which takes its place; the damaged one is kept
    /// beside it.
    ///
    /// No connection of this process to the store may be open.
    ///
    /// - Parameters:
    ///   - passcode: Asked for once, if the store is locked.
    ///   - progress: Told how much was looked at, and how much there is.
    /// - Throws: `.notAvailable` if the store is in use, or its keybag or device key do not open; the errors of an
    ///   unlock. After any error the store is as it was.
    package func repair(
        passcode: () throws -> SecretBytes, progress: (Int, Int) -> Void
    ) throws(KeychainError) -> RepairReport {
        try StoreRepair(EngineConfiguration(self)).run(passcode: passcode, progress: progress)
    }
}
