internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// The signals that ask the daemon to end or to lock, taken from a descriptor: none comes in the midst of something.
package struct DaemonSignals: Sendable {
    enum Wish { case end, lock }

    /// The size of a signal descriptor's record of one signal (signalfd(2)).
    private static let recordBytes = 128

    /// Readable when one has come.
    let descriptor: OpenDescriptor

    /// To be made while the process has one thread: another would still take them.
    package init() throws(KeychainError) {
        // Signals that the parent has it ignore, as nohup(1) does, stay ignored.
        let heeded = [SIGTERM, SIGINT, SIGHUP, SIGUSR1].filter { !HeldSignals.isIgnored($0) }
        do throws(SystemError) { descriptor = try HeldSignals.descriptor(of: heeded) } catch {
            throw KeychainError(.notAvailable, message: error.message)
        }
    }

    /// The wish of the next signal; nil: none has come.
    func next() -> Wish? {
        withUnsafeTemporaryAllocation(byteCount: Self.recordBytes, alignment: 8) { record in
            guard read(descriptor.number, record.baseAddress!, record.count) == record.count else { return nil }
            // The signal's number comes first.
            return record.load(as: UInt32.self) == UInt32(SIGUSR1) ? .lock : .end
        }
    }
}
