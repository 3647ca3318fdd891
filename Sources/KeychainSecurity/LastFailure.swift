internal import Foundation
internal import KeychainModel

/// The last failed call of a thread is kept for `SecCopyErrorMessageString`, since an `OSStatus` alone does not tell
/// the group or attribute that was meant.
enum LastFailure {
    private static let key = "swift-keychain.last-failure"

    static var onThisThread: KeychainError? {
        get { Thread.current.threadDictionary[key] as? KeychainError }
        set { Thread.current.threadDictionary[key] = newValue }
    }
}
