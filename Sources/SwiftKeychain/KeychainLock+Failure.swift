public import Foundation
internal import KeychainModel

extension KeychainLock {
    /// Why something could not be done about the lock or the passcode.
    public struct Failure: Error, Sendable {
        /// Apple's `OSStatus` for it. Those with a meaning of their own here:
        ///
        /// | status | Apple's name | meaning |
        /// |---|---|---|
        /// | −50 | `errSecParam` | the passcode is empty, or an idle limit is none |
        /// | −25260 | `errSecPassphraseRequired` | no passcode is set |
        /// | −25291 | `errSecNotAvailable` | the keychain cannot be opened |
        /// | −25293 | `errSecAuthFailed` | the passcode is wrong, or came before the delay was over |
        /// | −25299 | `errSecDuplicateItem` | a passcode is set already |
        /// | −25302 | `errSecDataTooLarge` | the passcode has more than 1024 bytes |
        /// | −25308 | `errSecInteractionNotAllowed` | the keychain is locked |
        /// | −26275 | `errSecDecode` | the passcode is not UTF-8 |
        public let status: Int32

        /// What went wrong this time, and what to do next, for a person to read. It never holds a secret.
        public let message: String

        /// The error that led to this one, if it arose in this process.
        public let cause: (any Error)?

        init(_ error: KeychainError) {
            status = error.code.status
            message = error.message
            cause = error.cause
        }
    }
}

extension KeychainLock.Failure: CustomStringConvertible {
    public var description: String { "\(message) [\(status)]" }
}

extension KeychainLock.Failure: LocalizedError {
    public var errorDescription: String? { message }
}
