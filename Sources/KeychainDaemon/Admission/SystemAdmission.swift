internal import Glibc
internal import KeychainManifests
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire
internal import Logging
internal import Synchronization

/// Every user has a store, and the kernel's evidence tells the programs of a user apart.
final class SystemAdmission: Admission {
    private let users: UserStores
    private let directories: ManifestDirectories
    private let logger: Logger
    private let known = Mutex<(signature: ManifestSignature, ladder: IdentityLadder)?>(nil)

    init(_ users: UserStores, _ directories: ManifestDirectories, _ logger: Logger) {
        self.users = users
        self.directories = directories
        self.logger = logger
    }

    var isShared: Bool { true }
    var stores: [ServedStore] { users.all }

    func prepare(saysFailure: Bool) throws(KeychainError) {
        try users.prepare()
        // Its flaws are in the log from the beginning.
        _ = try? ladder()
    }

    func stop() { users.stop() }

    func store(of user: uid_t) throws(ConnectionEnd) -> ServedStore { try users.store(of: user) }

    func judge(_ peer: PeerIdentity) throws(ConnectionEnd) -> Judgement {
        var standing = try ProcessStanding(of: peer)
        let user = peer.evidence.uid
        guard let name = AccountDatabase.name(of: user), let shell = AccountDatabase.shell(of: user) else {
            throw .goodbye(.refused, "user \(user) cannot be looked up among the system's accounts")
        }
        // A person logs in with a program that does not just say no.
        let account = IdentityLadder.Account(
            name: name, hasLogin: !["nologin", "false"].contains(FilePath.name(of: shell)),
            outsider: { ProcessTable.process(of: user, outside: $0) })
        let identity = try ladder().judge(peer.evidence, standing.evidence, account)
        standing.isOfCgroup = identity.kind == .unit
        return Judgement(identity, standing)
    }

    /// By the manifests as they are now.
    ///
    /// - Throws: `.goodbye` while the system does not tell which programs they are for.
    private func ladder() throws(ConnectionEnd) -> IdentityLadder {
        let signature = directories.signature()
        if let known = known.withLock({ $0 }), known.signature == signature { return known.ladder }
        let (manifests, flaws) = directories.read()
        for flaw in flaws { logger.error("a manifest gives nothing: \(flaw.path) \(flaw.text)") }
        if let flaw = flaws.first(where: \.mayPass) {
            throw .goodbye(.refused, "the manifest \(flaw.path) \(flaw.text): try again later")
        }
        let ladder = IdentityLadder(manifests, flaws)
        known.withLock { $0 = (signature, ladder) }
        return ladder
    }
}

/// The processes of the system.
enum ProcessTable {
    /// A process of a user that is not in this group of processes, for a person; nil: there is none.
    static func process(of user: uid_t, outside cgroup: String) -> String? {
        guard let processes = opendir("/proc") else { return "/proc cannot be read" }
        defer { closedir(processes) }
        while true {
            errno = 0
            guard let entry = readdir(processes) else { return errno == 0 ? nil : "/proc cannot be read" }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard let pid = Int32(name), fstatat(dirfd(processes), name, &status, 0) == 0, status.st_uid == user else {
                continue
            }
            let file = open("/proc/\(pid)/cgroup", O_RDONLY | O_CLOEXEC)
            let held = file < 0 ? nil : OpenDescriptor(file)
            guard let text = held.flatMap({ OpenDescriptor.content(of: $0.number) }) else {
                // The process may have ended since.
                if [ENOENT, ESRCH].contains(errno) { continue }
                return "\(pid), of which nothing more is known"
            }
            if ControlGroup(text).path != cgroup { return "\(pid) in \(ControlGroup(text).path ?? "no unit")" }
        }
    }
}
