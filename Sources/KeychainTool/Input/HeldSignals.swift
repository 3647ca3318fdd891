internal import Glibc

/// The signals that end or stop a program, held back while something must first be put in order.
///
/// To be made while the process has one thread: a thread that is already there would still take them.
struct HeldSignals {
    private static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let before: sigset_t
    /// Those that were not held back already by whoever started this program: they would not be delivered anyway.
    private let numbers: [Int32]

    init() {
        var held = Self.set(of: Self.all)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &held, &before)
        numbers = Self.all.filter { sigismember(&before, $0) == 0 }
        self.before = before
    }

    /// Whether one of them has come meanwhile.
    var arePending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// Lets those that have come do what they do, and holds the next ones.
    func deliver() {
        release()
        var held = Self.set(of: numbers)
        pthread_sigmask(SIG_BLOCK, &held, nil)
    }

    func release() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}
