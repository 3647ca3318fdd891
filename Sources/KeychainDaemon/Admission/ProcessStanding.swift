internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

/// The state of a process by the kernel, now and later.
package struct ProcessStanding: Sendable {
    let evidence: ProcessEvidence
    private let directory: OpenDescriptor
    private let cgroup: OpenDescriptor
    private let cgroupText: [UInt8]
    /// Whether the judgement of the process is one of its group of processes. Others may be moved by their manager.
    var isOfCgroup = false

    /// O_PATH (open(2)), the same on every machine that Swift runs on. A status of such a descriptor is always the present
    /// one.
    private static let pathOnly: Int32 = 0o10_000_000
    /// Far more than the kernel writes.
    private static let mostBytes = 64 << 10

    /// The map of this process's own user namespace, which stays.
    private static let ownMap: [UInt8] = {
        let number = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC)
        let file = number < 0 ? nil : OpenDescriptor(number)
        return file.flatMap { OpenDescriptor.content(of: $0.number, most: mostBytes) } ?? []
    }()

    /// - Throws: `.goodbye` if the kernel does not tell, or tells something that is not understood.
    package init(of peer: PeerIdentity) throws(ConnectionEnd) {
        let number = open("/proc/\(peer.evidence.pid)", Self.pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw Self.failure(errno, peer) }
        directory = OpenDescriptor(number)
        let status = try Self.read("status", in: directory, peer).text
        let map = try Self.read("uid_map", in: directory, peer).text
        (cgroup, cgroupText) = try Self.read("cgroup", in: directory, peer)
        // All of it was about this process.
        if !peer.isAlive { throw .gone }
        guard
            let evidence = ProcessEvidence(status: status, userMap: map, cgroup: cgroupText, ownMap: Self.ownMap)
        else {
            throw .goodbye(.refused, "what /proc says of process \(peer.evidence.pid) is not understood here")
        }
        self.evidence = evidence
    }

    private static func read(
        _ name: String, in directory: OpenDescriptor, _ peer: PeerIdentity
    ) throws(ConnectionEnd) -> (file: OpenDescriptor, text: [UInt8]) {
        let number = openat(directory.number, name, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw failure(errno, peer) }
        let file = OpenDescriptor(number)
        guard let text = OpenDescriptor.content(of: number, most: mostBytes) else { throw failure(errno, peer) }
        return (file, text)
    }

    private static func failure(_ number: Int32, _ peer: PeerIdentity) -> ConnectionEnd {
        guard peer.isAlive else { return .gone }
        return .goodbye(
            .refused,
            "keychaind cannot see process \(peer.evidence.pid) in /proc (\(String(cString: strerror(number)))). If "
                + "/proc is mounted with hidepid, mount it with gid= too, and give that group to the service: "
                + "SupplementaryGroups= in its unit")
    }

    /// The process is alive.
    ///
    /// - Throws: `.goodbye` if it is not what it was when it was judged. It is not judged again.
    func require() throws(ConnectionEnd) {
        var now = stat()
        guard fstat(directory.number, &now) == 0, now.st_uid == evidence.users[1], now.st_gid == evidence.groups[1],
            !isOfCgroup || isInSameCgroup
        else {
            throw .goodbye(
                .refused, "the process is another than it was when it connected: it has to connect anew")
        }
    }

    private var isInSameCgroup: Bool {
        withUnsafeTemporaryAllocation(byteCount: cgroupText.count + 1, alignment: 1) { text in
            pread(cgroup.number, text.baseAddress!, text.count, 0) == cgroupText.count
                && text.prefix(cgroupText.count).elementsEqual(cgroupText)
        }
    }
}
