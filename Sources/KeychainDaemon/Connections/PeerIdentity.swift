internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

/// The process that made a connection, held fast: its number cannot come to mean another one unnoticed.
package struct PeerIdentity: Sendable {
    let evidence: CallerEvidence
    private let held: OpenDescriptor

    var process: ClientProcess { ClientProcess(user: evidence.uid, pid: evidence.pid) }

    /// The process that connected a socket, as the kernel noted it then.
    static func process(of socket: Int32) throws(ConnectionEnd) -> ckeychain_process {
        var peer = ckeychain_process()
        let failure = ckeychain_peer(socket, &peer)
        guard failure == 0 else { throw .refused("the kernel does not say who it is", failure) }
        guard peer.pid > 0 else {
            throw .goodbye(.refused, "a process of another pid namespace cannot be told from others here")
        }
        return peer
    }

    /// - Throws: `.goodbye` of a process that ended or that cannot be held fast.
    init(of socket: Int32) throws(ConnectionEnd) {
        let accepted = ProcessStart.now
        let peer = try Self.process(of: socket)
        held = try Self.hold(peer.pid, of: socket, accepted)
        evidence = CallerEvidence(
            pid: peer.pid, uid: peer.uid, gid: peer.gid, groups: try Self.groups(of: socket),
            // Once for a connection: reading it takes 3 µs, a quarter of a look-up. The path is this process's, since
            // that is looked at again below. But the process may have been another program when it connected, or become
            // one since: a judgement must read the path anew.
            executable: Self.executable(of: peer.pid), securityLabel: Self.label(of: socket))
        guard isAlive else { throw .gone }
    }

    /// Whether it is there. If so, no other process has had its number since it connected.
    var isAlive: Bool {
        var waiting = pollfd(fd: held.number, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) == 0
    }

    /// - Throws: `.goodbye` if another process sent something over the connection: a descriptor can be handed on, and
    ///   its owner's rights cannot.
    func require(_ sender: ckeychain_sender) throws(ConnectionEnd) {
        guard sender.is_known != 0, sender.process.pid == evidence.pid, sender.process.uid == evidence.uid else {
            throw .goodbye(.refused, "only the process that made a connection may use it")
        }
        guard sender.sent_more == 0 else { throw .malformed("a message brings no descriptors") }
    }

    // MARK: Evidence

    private static func hold(
        _ pid: Int32, of socket: Int32, _ accepted: Double
    ) throws(ConnectionEnd) -> OpenDescriptor {
        var descriptor: Int32 = -1
        let failure = ckeychain_peer_descriptor(socket, &descriptor)
        if failure == 0 { return OpenDescriptor(descriptor) }
        guard failure == ENOPROTOOPT else { throw failure.meansEnded ? .gone : .refused("it cannot be held", failure) }
        return try hold(pid, startedBefore: accepted)
    }

    /// The way before Linux 6.5. That the number came to mean another process between its connecting and this moment shows
    /// if that process is younger than the connection; what happened while the connection waited to be accepted does not.
    ///
    /// - Parameter accepted: When the connection was accepted, by the clock of ``ProcessStart``.
    static func hold(_ pid: Int32, startedBefore accepted: Double) throws(ConnectionEnd) -> OpenDescriptor {
        var descriptor: Int32 = -1
        let failure = ckeychain_open_process(pid, &descriptor)
        guard failure == 0 else { throw failure.meansEnded ? .gone : .refused("it cannot be held", failure) }
        let held = OpenDescriptor(descriptor)
        guard let start = ProcessStart.time(of: pid), start <= accepted else { throw .gone }
        return held
    }

    private static func groups(of socket: Int32) throws(ConnectionEnd) -> [UInt32] {
        var capacity = 64
        while true {
            var count = 0
            var failure: Int32 = 0
            let groups = [UInt32](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                failure = ckeychain_peer_groups(socket, buffer.baseAddress!, capacity, &count)
                initialized = failure == 0 ? count : 0
            }
            if failure == 0 { return groups }
            // The kernel's own limit is 65,536 groups.
            guard failure == ERANGE, capacity < 1 << 16 else { throw .refused("its groups cannot be read", failure) }
            capacity = 1 << 16
        }
    }

    private static func executable(of pid: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { path in
            let count = readlink("/proc/\(pid)/exe", path.baseAddress!, path.count)
            return count > 0 ? String(decoding: UnsafeRawBufferPointer(path).prefix(count), as: UTF8.self) : nil
        }
    }

    private static func label(of socket: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { label in
            guard ckeychain_peer_label(socket, label.baseAddress!, label.count) == 0, label[0] != 0 else { return nil }
            return String(cString: label.baseAddress!)
        }
    }
}

/// When processes were started, in seconds since the system was.
enum ProcessStart {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// nil: there is no such process.
    static func time(of pid: Int32) -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .isoLatin1),
            // The second field is the program's name in brackets, which may hold anything.
            let nameEnd = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[nameEnd...].split(separator: " ")
        guard fields.count > 20, let ticks = Double(fields[20]) else { return nil }
        // Rounded down, to a hundredth of a second as a rule.
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

extension Int32 {
    /// An errno value of a process that is no more.
    fileprivate var meansEnded: Bool { self == ESRCH || self == EINVAL || self == ENODATA }
}

extension ConnectionEnd {
    fileprivate static func refused(_ what: String, _ number: Int32) -> ConnectionEnd {
        .goodbye(.refused, "\(what) (\(String(cString: strerror(number))))")
    }
}
