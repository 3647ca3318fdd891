internal import FoundationEssentials
package import Glibc
package import KeychainModel
internal import KeychainWire

/// Decides which processes a daemon serves, from which store, and as whom.
package protocol Admission: Sendable {
    /// Whether the stores are of several users, who share the daemon's places and memory.
    var isShared: Bool { get }
    /// Every store that there is at present.
    var stores: [ServedStore] { get }

    /// Opens what is needed before the first client.
    ///
    /// - Parameter saysFailure: As that of ``ServedStore/engine(saysFailure:)``.
    func prepare(saysFailure: Bool) throws(KeychainError)

    /// The store of a user. It may not be open, and there may be none yet.
    ///
    /// - Throws: `.goodbye` for a user who has none here.
    func store(of user: uid_t) throws(ConnectionEnd) -> ServedStore

    /// Judges the process at the other end of a connection, before anything is read from it.
    ///
    /// - Throws: `.goodbye` for a process that is not served.
    func judge(_ peer: PeerIdentity) throws(ConnectionEnd) -> Judgement

    /// Ends what ``prepare(saysFailure:)`` began.
    func stop()
}

/// A client, as far as its daemon can tell what it is.
package struct Judgement: Sendable {
    /// nil: the client's own word counts.
    private let identity: CallerDescription?
    /// Whether the client owns the store if it says so.
    private let mayClaimStore: Bool
    /// The client's first request repeats it. Empty: it need not.
    let nonce: Data
    /// The evidence that has to stay as it was; nil: there is none.
    let standing: ProcessStanding?

    /// Any process of the user is taken at its word.
    static let ofUser = Judgement(identity: nil, mayClaimStore: true, nonce: Data(), standing: nil)
}

extension Judgement {
    /// - Parameter identity: nil in tests, where one process is several programs.
    package init(_ identity: CallerDescription?, _ standing: ProcessStanding) {
        self.init(identity: identity, mayClaimStore: false, nonce: .nonce(), standing: standing)
    }

    func description(_ hello: ClientHello, _ peer: PeerIdentity) -> CallerDescription {
        identity
            ?? CallerDescription(
                kind: .declared, groups: hello.groups, evidence: ["the program names its groups itself"],
                pid: peer.evidence.pid, uid: peer.evidence.uid)
    }

    func caller(_ hello: ClientHello, _ peer: PeerIdentity) -> Caller {
        let authority = hello.authority == .owner && !mayClaimStore ? .claimedOwner : hello.authority
        return Caller(groups: identity?.groups ?? hello.groups, authority: authority, evidence: peer.evidence)
    }
}

extension Data {
    /// Sixteen bytes of the kernel's random generator (getrandom(2)).
    fileprivate static func nonce() -> Data {
        var generator = SystemRandomNumberGenerator()
        return Swift.withUnsafeBytes(of: (generator.next(), generator.next())) { Data($0) }
    }
}

/// All processes of this process's user are served from one store, with the groups that they name.
struct UserAdmission: Admission {
    let store: ServedStore

    var isShared: Bool { false }
    var stores: [ServedStore] { [store] }

    func prepare(saysFailure: Bool) throws(KeychainError) { try store.engine(saysFailure: saysFailure) }

    func store(of user: uid_t) throws(ConnectionEnd) -> ServedStore {
        guard user == geteuid() else {
            throw .goodbye(.refused, "this keychaind serves user \(geteuid()) alone, and not user \(user)")
        }
        return store
    }

    func judge(_ peer: PeerIdentity) -> Judgement { .ofUser }

    func stop() {}
}
