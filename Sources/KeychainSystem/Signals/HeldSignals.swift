internal import Glibc

/// The signals that end or stop a program, held back until the program has put things in order.
///
/// Make it while the process has one thread: another thread would still take the signals.
package struct HeldSignals {
    private static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let before: sigset_t
    /// The signals that would have an effect: the parent process has neither held nor ignored them.
    private let numbers: [Int32]

    package init() {
        let heeded = Self.all.filter { !Self.isIgnored($0) }
        var held = Self.set(of: heeded)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &held, &before)
        numbers = heeded.filter { sigismember(&before, $0) == 0 }
        self.before = before
    }

    /// Whether a held signal has come.
    package var arePending: Bool { isPending { _ in true } }

    /// Whether a held signal has come that ends the program, rather than stops it for a while.
    package var isEndPending: Bool { isPending { $0 != SIGTSTP } }

    private func isPending(_ isMeant: (Int32) -> Bool) -> Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return numbers.contains { isMeant($0) && sigismember(&pending, $0) == 1 }
    }

    /// Lets the signals that have come take effect, and holds the next ones.
    package func deliver() {
        release()
        var held = Self.set(of: numbers)
        pthread_sigmask(SIG_BLOCK, &held, nil)
    }

    package func release() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Whether the parent process ignores a signal, as nohup(1) does.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Holds signals back, and opens a descriptor that becomes readable when one of them has come.
    package static func descriptor(of numbers: [Int32]) throws(SystemError) -> OpenDescriptor {
        var descriptor: Int32 = -1
        let failure = ckeychain_hold_signals(numbers, numbers.count, &descriptor)
        guard failure == 0 else { throw SystemError("wait for signals", failure) }
        return OpenDescriptor(descriptor)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}
