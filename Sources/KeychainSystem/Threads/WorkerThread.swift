internal import Glibc
package import KeychainModel

/// A thread of our own, for calls that block. They must not block the threads of tasks.
package enum WorkerThread {
    /// Starts a thread for what a program's own code does, with as much address space as its main thread has, and its
    /// signals.
    package static func startForProgram(_ name: String, _ body: @escaping @Sendable () -> Void) throws(KeychainError) {
        try start(name, stackBytes: 8 << 20, keepsSignals: true, body)
    }

    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Starts a thread that runs `body` and ends.
    ///
    /// - Parameters:
    ///   - name: The thread's name for people who look at the process, of at most 15 bytes.
    ///   - stackBytes: Taken from the address space at once and from memory as it is used. A request of the engine has
    ///     used less than 100 KiB of it in every test; a debug build uses more.
    ///   - keepsSignals: Whether signals reach the thread as they reach the one that makes it: for a program's own code,
    ///     whose children inherit that. Otherwise none does.
    /// - Throws: `.allocation` if the user may have no more threads.
    package static func start(
        _ name: String, stackBytes: Int = 512 << 10, keepsSignals: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) throws(KeychainError) {
        let context = Unmanaged.passRetained(Body(body))
        let failure = ckeychain_start_thread(
            name, stackBytes, keepsSignals ? 1 : 0,
            { context in Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run() },
            context.toOpaque())
        guard failure == 0 else {
            context.release()
            throw KeychainError(
                .allocation, message: "no thread could be started (\(String(cString: strerror(failure))))")
        }
    }

    /// Blocks the thread.
    package static func sleep(for time: Duration) { usleep(UInt32(clamping: Int64(time / .microseconds(1)))) }
}
