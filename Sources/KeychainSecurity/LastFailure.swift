internal import Foundation
internal import KeychainModel

/// The last failed call of the current thread, for `SecCopyErrorMessageString`: an `OSStatus` alone cannot say
/// which group or attribute was meant.
enum LastFailure {
    private static let key = "swift-keychain.last-failure"

    static var onThisThread: KeychainError? {
        get { Thread.current.threadDictionary[key] as? KeychainError }
        set { Thread.current.threadDictionary[key] = newValue }
    }
}
