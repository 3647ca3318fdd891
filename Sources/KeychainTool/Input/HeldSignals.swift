internal import Glibc

/// The signals that end or stop a program, held back while something must first be put in order.
///
/// To be made while the process has one thread: a thread that is already there would still take them.
struct HeldSignals {
    private static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let before: sigset_t
    private let held: sigset_t

    init() {
        var held = sigset_t()
        var before = sigset_t()
        sigemptyset(&held)
        for signal in Self.all { sigaddset(&held, signal) }
        pthread_sigmask(SIG_BLOCK, &held, &before)
        self.held = held
        self.before = before
    }

    /// Whether one of them has come meanwhile.
    var arePending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return Self.all.contains { sigismember(&pending, $0) == 1 }
    }

    /// Lets those that have come do what they do, and holds the next ones.
    func deliver() {
        release()
        var held = held
        pthread_sigmask(SIG_BLOCK, &held, nil)
    }

    func release() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
