internal import CKeychainLinux
internal import Glibc
internal import KeychainBus
internal import KeychainSystem

/// The signals that ask a program to end. The program reads them from a descriptor when it wants.
///
/// Make it while the process has one thread: another thread would still take the signals.
struct StopSignals {
    /// The descriptor becomes readable when a signal has come.
    let descriptor: OpenDescriptor

    init() throws(ToolFailure) {
        var number: Int32 = -1
        let numbers = [SIGTERM, SIGINT, SIGHUP]
        let failure = ckeychain_hold_signals(numbers, numbers.count, &number)
        guard failure == 0 else {
            throw ToolFailure(message: "cannot wait for signals: \(String(cString: strerror(failure)))")
        }
        descriptor = OpenDescriptor(number)
    }
}
