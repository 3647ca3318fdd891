internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainWire

/// Decides which processes a daemon serves, from which store, and as whom.
protocol Admission: Sendable {
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

/// Who a client is, as far as its daemon can tell.
struct Judgement: Sendable {
    /// nil: the client's own word counts.
    var identity: CallerDescription?
    /// The client's first request repeats it. Empty: it need not.
    var nonce = Data()
    /// What has to stay as it was; nil: nothing.
    var standing: ProcessStanding?

    func description(_ hello: ClientHello, _ peer: PeerIdentity) -> CallerDescription {
        identity
            ?? CallerDescription(
                kind: .declared, groups: hello.groups, evidence: ["the program names its groups itself"],
                pid: peer.evidence.pid, uid: peer.evidence.uid)
    }

    func caller(_ hello: ClientHello, _ peer: PeerIdentity) -> Caller {
        guard let identity else {
            return Caller(groups: hello.groups, authority: hello.authority, evidence: peer.evidence)
        }
        return Caller(
            groups: identity.groups, authority: hello.authority == .owner ? .claimedOwner : .groups,
            evidence: peer.evidence)
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

    func judge(_ peer: PeerIdentity) -> Judgement { Judgement() }

    func stop() {}
}
