internal import CKeychainLinux
internal import Glibc
internal import KeychainBus
internal import KeychainModel

/// Wakes a thread that waits, from another one, once and for all.
final class Wakeup: Sendable {
    private let descriptor: OpenDescriptor

    init() throws(BiometryFailure) {
        var number: Int32 = -1
        let failure = ckeychain_open_event(&number)
        guard failure == 0 else {
            throw .failed("no event descriptor could be opened: \(String(cString: strerror(failure)))")
        }
        descriptor = OpenDescriptor(number)
    }

    /// Readable once it is set.
    var number: Int32 { descriptor.number }

    func set() { ckeychain_set_event(number) }
}
