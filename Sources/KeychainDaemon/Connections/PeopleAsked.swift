internal import Glibc
internal import Synchronization

/// The people who are being asked for something. Each question holds a connection to the system's bus, of which an account
/// has few. So where users share a daemon each is asked one thing of a kind at a time.
final class PeopleAsked: Sendable {
    enum Kind { case consent, finger }

    private struct Question: Hashable {
        let kind: Kind
        let user: uid_t
    }

    private static let most = 64

    private let isShared: Bool
    private let questions = Mutex<Set<Question>>([])

    init(isShared: Bool) { self.isShared = isShared }

    /// - Returns: false if the user, or too many users, are being asked already.
    func begin(_ kind: Kind, _ user: uid_t) -> Bool {
        guard isShared else { return true }
        return questions.withLock { $0.count < Self.most && $0.insert(Question(kind: kind, user: user)).inserted }
    }

    func end(_ kind: Kind, _ user: uid_t) {
        questions.withLock { _ = $0.remove(Question(kind: kind, user: user)) }
    }
}
