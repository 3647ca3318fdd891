internal import CKeychainLinux
internal import Glibc
internal import KeychainBus
internal import KeychainModel

/// A descriptor that a thread can wait for beside others, and another thread sets.
final class EventDescriptor: Sendable {
    /// Readable while it is set.
    let descriptor: OpenDescriptor

    init() throws(KeychainError) {
        var number: Int32 = -1
        let failure = ckeychain_open_event(&number)
        guard failure == 0 else {
            throw KeychainError(
                .allocation, message: "no event descriptor could be opened (\(String(cString: strerror(failure))))")
        }
        descriptor = OpenDescriptor(number)
    }

    var number: Int32 { descriptor.number }

    func set() { ckeychain_set_event(number) }
    func clear() { ckeychain_clear_event(number) }
}
