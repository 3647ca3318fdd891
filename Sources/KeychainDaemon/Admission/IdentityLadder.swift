internal import KeychainManifests
internal import KeychainModel
internal import KeychainWire

/// Judges a process by the strongest evidence there is for it. A program that a manifest names, and for which the evidence
/// is not whole, is refused: among the programs without an identity its items would lie open.
struct IdentityLadder {
    /// A user as the system knows it.
    struct Account {
        var name: String
        /// Whether a person can log in as it.
        var hasLogin: Bool
        /// A process of the user that is not in this group of processes, for a person; nil: there is none.
        var outsider: (_ cgroup: String) -> String?
    }

    private typealias Subject = EntitlementManifest.Subject
    private let manifests: [Subject: EntitlementManifest]
    private let flaws: [Subject: ManifestFlaw]
    /// A flaw that does not say whom its manifest is for.
    private let namelessFlaw: ManifestFlaw?

    init(_ manifests: [EntitlementManifest], _ flaws: [ManifestFlaw]) {
        self.manifests = Dictionary(manifests.map { ($0.subject, $0) }) { first, _ in first }
        self.flaws = Dictionary(flaws.compactMap { flaw in flaw.subject.map { ($0, flaw) } }) { first, _ in first }
        namelessFlaw = flaws.first { $0.subject == nil }
    }

    /// - Parameters:
    ///   - peer: As the kernel noted it when the process connected.
    ///   - now: As it is.
    func judge(
        _ peer: CallerEvidence, _ now: ProcessEvidence, _ account: Account
    ) throws(ConnectionEnd) -> CallerDescription {
        guard now.users.allSatisfy({ $0 == peer.uid }), now.groups[1] == peer.gid else {
            throw .refusal("it connected as user \(peer.uid) and group \(peer.gid), and has others now")
        }
        guard now.namespace != .own || now.pidCount == 1 else {
            throw .refusal("it is in a container whose users are those of the system")
        }
        let (kind, name, groups, fact) = try rung(now, account)
        var evidence = ["user \(account.name) (\(peer.uid))", "group \(peer.gid)"]
        evidence += now.cgroup.path.map { ["cgroup \($0)"] } ?? []
        evidence += now.namespace == .own ? [] : ["another user namespace, made by \(now.namespace.maker)"]
        evidence += fact.map { [$0] } ?? []
        return CallerDescription(
            kind: kind, name: name, groups: groups, evidence: evidence, pid: peer.pid, uid: peer.uid)
    }

    private typealias Rung = (
        kind: CallerDescription.Kind, name: String?, groups: [String], fact: String?
    )

    private func rung(_ now: ProcessEvidence, _ account: Account) throws(ConnectionEnd) -> Rung {
        if let named = now.groups.first(where: { isNamed(.group($0)) }) {
            let manifest = try manifest(.group(named))
            guard now.namespace == .own, now.groups[1] == named, now.groups[2] == named else {
                throw .refusal(
                    "\(manifest.path) is for its group \(named), which it has not as its effective and saved one")
            }
            return Self.rung(.setgid, manifest)
        }
        if let unit = now.cgroup.outerUnit, isNamed(.unit(unit)) {
            let manifest = try manifest(.unit(unit))
            if let flaw = flaw(asUnit: now, account) { throw .refusal("\(manifest.path) is for \(unit), and \(flaw)") }
            return Self.rung(.unit, manifest)
        }
        if isNamed(.user(now.users[1])) {
            let manifest = try manifest(.user(now.users[1]))
            guard now.namespace == .own else {
                throw .refusal("\(manifest.path) is for its user, and it is in a user namespace of its own")
            }
            return Self.rung(.user, manifest)
        }
        let isService = now.cgroup.outerUnit != nil && now.users[1] != 0 && !account.hasLogin
        // It may be for this one.
        if let flaw = namelessFlaw, isService || now.groups[0] != now.groups[1] {
            throw .refusal("the manifest \(flaw.path), which may be its own, \(flaw.text)")
        }
        if let unit = now.cgroup.unit, isService {
            if let flaw = flaw(asUnit: now, account) { throw .refusal("it is \(unit), and \(flaw)") }
            return (.unit, unit, [unit], "no other process of the user")
        }
        guard now.namespace != .ofRoot else {
            throw .refusal("it is in a user namespace that root made, and is no service of the system")
        }
        return (.unconfined, nil, [Caller.unconfinedGroup], nil)
    }

    private static func rung(_ kind: CallerDescription.Kind, _ manifest: EntitlementManifest) -> Rung {
        (kind, manifest.subjectName, manifest.groups, "manifest \(manifest.path)")
    }

    private func isNamed(_ subject: EntitlementManifest.Subject) -> Bool {
        manifests[subject] != nil || flaws[subject] != nil
    }

    private func manifest(_ subject: EntitlementManifest.Subject) throws(ConnectionEnd) -> EntitlementManifest {
        if let flaw = flaws[subject] { throw .refusal("its manifest \(flaw.path) gives nothing: it \(flaw.text)") }
        return manifests[subject]!  // it is named
    }

    /// The reason why a process is not that of a unit with a user of its own.
    private func flaw(asUnit now: ProcessEvidence, _ account: Account) -> String? {
        guard now.cgroup.unit != nil, let cgroup = now.cgroup.path else { return "the process is in a group below it" }
        if now.namespace == .ofUser { return "the process is in a user namespace that its user made" }
        if now.users[1] == 0 { return "it runs as root" }
        if account.hasLogin { return "its user \(account.name) can log in" }
        return account.outsider(cgroup).map { "its user \(account.name) has another process: \($0)" }
    }
}

extension UserNamespace {
    fileprivate var maker: String { self == .ofUser ? "its user" : "root" }
}

extension ConnectionEnd {
    fileprivate static func refusal(_ text: String) -> ConnectionEnd {
        .goodbye(.refused, "keychaind cannot tell which program this is: \(text)")
    }
}
