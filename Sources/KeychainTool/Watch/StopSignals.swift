internal import CKeychainLinux
internal import Glibc
internal import KeychainBus
internal import KeychainSystem

/// The signals that ask a program to end, taken from a descriptor at a moment of its own choice.
///
/// To be made while the process has one thread: another would still take them.
struct StopSignals {
    /// Becomes readable when one has come.
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
