internal import CKeychainLinux
internal import Glibc
internal import KeychainModel

/// A thread of the daemon's own: what blocks in the kernel must not do so in Swift's pool of threads.
enum WorkerThread {
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
    /// - Throws: `.allocation` if the user may have no more threads.
    static func start(
        _ name: String, stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void
    ) throws(KeychainError) {
        let context = Unmanaged.passRetained(Body(body))
        let failure = ckeychain_start_thread(
            name, stackBytes, { context in Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run() },
            context.toOpaque())
        guard failure == 0 else {
            context.release()
            throw KeychainError(
                .allocation, message: "no thread could be started (\(String(cString: strerror(failure))))")
        }
    }
}
