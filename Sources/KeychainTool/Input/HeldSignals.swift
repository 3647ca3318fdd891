internal import Glibc

/// The signals that end or stop a program, held back while something must first be put in order.
///
/// To be made while the process has one thread: a thread that is already there would still take them.
struct HeldSignals {
    private static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let before: sigset_t
    /// Those that were not held back or ignored already by whoever started this program: they would not do anything.
    private let numbers: [Int32]

    init() {
        let heeded = Self.all.filter { !Self.isIgnored($0) }
        var held = Self.set(of: heeded)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &held, &before)
        numbers = heeded.filter { sigismember(&before, $0) == 0 }
        self.before = before
    }

    /// Whether one of them has come meanwhile.
    var arePending: Bool { isPending { _ in true } }

    /// Whether one has come that ends the program, rather than stopping it for a while.
    var isEndPending: Bool { isPending { $0 != SIGTSTP } }

    private func isPending(_ isMeant: (Int32) -> Bool) -> Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return numbers.contains { isMeant($0) && sigismember(&pending, $0) == 1 }
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

    /// As under nohup(1).
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}
