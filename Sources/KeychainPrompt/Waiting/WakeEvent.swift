internal import CKeychainLinux
internal import Glibc
internal import KeychainModel

/// What another thread sets to wake one that waits in the kernel. Once set it stays so.
///
/// A class, so that the descriptor is open for as long as anybody may still set it: a handler of ``Cancellation`` may run
/// after the question that it was for.
final class WakeEvent: Sendable {
    let descriptor: Int32

    init() throws(PromptFailure) {
        var descriptor: Int32 = -1
        let failure = ckeychain_open_event(&descriptor)
        guard failure == 0 else { throw .failed("cannot ask: \(String(cString: strerror(failure)))") }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func set() { ckeychain_set_event(descriptor) }
}
