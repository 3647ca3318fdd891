import CKeychainFaults
import CKeychainTestSupport
import Foundation
import Glibc
import KeychainModel

/// A child process that does a piece of work and leaves its result in memory that the parent shares.
///
/// Children are forked, not started anew, since there are thousands. The parent never opens an engine: a forked process
/// could not use it, nor the locks of its database.
final class ForkedWork {
    private static let capacity = 1 << 20
    private let memory: UnsafeMutableRawPointer

    init() {
        guard let memory = ckeychain_shared_memory(Self.capacity) else { fatalError("no shared memory") }
        self.memory = memory
    }

    /// How a child ended.
    enum Ending: Equatable {
        case finished
        /// As the fault layer ends it.
        case killed
        case failed(String)
    }

    /// A child at work.
    func start(seconds: UInt32 = 60, _ body: (ForkedWork) throws -> Void) -> pid_t {
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
        let child = ckeychain_test_fork()
        precondition(child >= 0, "no further process")
        if child > 0 { return child }
        // A child that hangs is a failure too, also if whoever started this blocks signals.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        alarm(seconds)
        withoutActuallyEscaping(body) { body in
            Self.runOnFreshThread {
                do {
                    try body(self)
                    _exit(0)
                } catch {
                    complain(error)
                    _exit(1)
                }
            }
        }
    }

    /// The locks of Swift's runtime know a thread by a number that it remembers, and the one that was forked remembers its
    /// parent's: what it holds, and another thread of the child waits for, it would try to give back for ever.
    private static func runOnFreshThread(_ work: @escaping () -> Never) -> Never {
        final class Work {
            let run: () -> Never
            init(_ run: @escaping () -> Never) { self.run = run }
        }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil, { Unmanaged<Work>.fromOpaque($0!).takeUnretainedValue().run() },
            Unmanaged.passRetained(Work(work)).toOpaque())
        precondition(failure == 0, "no thread can be started")
        pthread_join(thread, nil)
        fatalError("the work has ended without ending the process")
    }

    static func wait(for child: pid_t) -> Ending {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 { precondition(errno == EINTR, "the child cannot be waited for") }
        let signal = status & 0x7f
        if signal == SIGKILL { return .killed }
        if signal == SIGALRM { return .failed("it hung") }
        if signal != 0 { return .failed("signal \(signal)") }
        return status == 0 ? .finished : .failed("it ended with \(status >> 8)")
    }

    func run(_ body: (ForkedWork) throws -> Void) -> Ending { Self.wait(for: start(body)) }

    // MARK: What is shared

    /// What an operation has come to, also if the process was killed after it.
    struct Progress {
        enum Phase: Int32 { case before, within, done, refused }
        var phase = Phase.before
        /// If it was refused.
        var status: Int32 = 0
    }

    var progress: Progress {
        get {
            Progress(
                phase: Progress.Phase(rawValue: memory.load(as: Int32.self)) ?? .before,
                status: memory.load(fromByteOffset: 4, as: Int32.self))
        }
        set {
            memory.storeBytes(of: newValue.status, toByteOffset: 4, as: Int32.self)
            memory.storeBytes(of: newValue.phase.rawValue, as: Int32.self)
        }
    }

    func leave<Result: Encodable>(_ result: Result) throws {
        let bytes = try JSONEncoder().encode(result)
        guard bytes.count <= Self.capacity - 64 else {
            throw KeychainError(.internalFailure, message: "the result is too large")
        }
        bytes.withUnsafeBytes { (memory + 64).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        memory.storeBytes(of: bytes.count, toByteOffset: 8, as: Int.self)
    }

    /// nil if the child did not get that far.
    func result<Result: Decodable>(_ type: Result.Type) throws -> Result? {
        let count = memory.load(fromByteOffset: 8, as: Int.self)
        if count == 0 { return nil }
        return try JSONDecoder().decode(type, from: Data(bytes: memory + 64, count: count))
    }
}
