internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// A mounted directory: an answer to each request of the kernel.
final class Volume: Sendable {
    let nodes: NodeTable
    let lengths = KnownLengths()
    let files: ProtectedFiles
    let notices: Notices
    /// The time of the next attempt to make room, by ``Node/clock``.
    let nextRoom = Atomic(0)
    /// The directories that programs have open, by the numbers of their descriptors.
    let openDirectories = Mutex<[UInt64: OpenDescriptor]>([:])
    let calls = CallCounts()
    /// Whether the keychain was locked when that was last told.
    let isLocked: Atomic<Bool>

    init(root: OpenDescriptor, _ files: ProtectedFiles, _ notices: Notices) throws(Refusal) {
        nodes = try NodeTable(root: root)
        self.files = files
        self.notices = notices
        isLocked = Atomic(!files.isProtectedDataAvailable)
    }

    /// Answers a request.
    ///
    /// - Returns: false if the kernel waits for no answer.
    func answer(_ request: inout Request, _ reply: inout Reply) throws(Refusal) -> Bool {
        let id = request.header.nodeid
        switch fuse_opcode(request.header.opcode) {
        case FUSE_FORGET:
            let forgotten = try request.take(fuse_forget_in.self)
            nodes.forget(id, forgotten.nlookup)
            return false
        case FUSE_BATCH_FORGET:
            let batch = try request.take(fuse_batch_forget_in.self)
            for _ in 0..<batch.count {
                let one = try request.take(fuse_forget_one.self)
                nodes.forget(one.nodeid, one.nlookup)
            }
            return false
        case FUSE_INTERRUPT:
            // Another program keeps a call waiting for ten seconds at most.
            return false
        case FUSE_DESTROY: return true
        case FUSE_STATFS: try statistics(&reply)
        default:
            let node = try nodes.node(id)
            try node.awake { () throws(Refusal) in try answer(about: node, &request, &reply) }
        }
        return true
    }

    private func answer(about node: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        switch fuse_opcode(request.header.opcode) {
        case FUSE_LOOKUP: try lookUp(in: node, &request, &reply)
        case FUSE_GETATTR: try attributes(of: node, &reply)
        case FUSE_SETATTR: try setAttributes(of: node, &request, &reply)
        case FUSE_READLINK: try readLink(node, &reply)
        case FUSE_SYMLINK: try makeLink(in: node, &request, &reply)
        case FUSE_MKNOD: try makeNode(in: node, &request, &reply)
        case FUSE_MKDIR: try makeDirectory(in: node, &request, &reply)
        case FUSE_UNLINK: try remove(in: node, &request, 0)
        case FUSE_RMDIR: try remove(in: node, &request, AT_REMOVEDIR)
        case FUSE_RENAME, FUSE_RENAME2: try rename(in: node, &request)
        case FUSE_LINK: try link(in: node, &request, &reply)
        case FUSE_OPEN: try open(node, &request, &reply)
        case FUSE_CREATE: try create(in: node, &request, &reply)
        case FUSE_READ: try read(node, &request, &reply)
        case FUSE_WRITE: try write(node, &request, &reply)
        case FUSE_RELEASE:
            // An open file of class B has been read since the lock.
            if node.release() && isLocked.load(ordering: .relaxed) { notices.pages(of: node) }
        case FUSE_FSYNC: try node.sync(files)
        case FUSE_FALLOCATE: try allocate(node, &request)
        case FUSE_OPENDIR: try openDirectory(node, &reply)
        case FUSE_READDIR: try list(node, &request, &reply, withAttributes: false)
        case FUSE_READDIRPLUS: try list(node, &request, &reply, withAttributes: true)
        case FUSE_RELEASEDIR: try closeDirectory(&request)
        case FUSE_FSYNCDIR: try syncDirectory(&request)
        case FUSE_GETXATTR: try getAttribute(of: node, &request, &reply)
        case FUSE_SETXATTR: try setAttribute(of: node, &request)
        case FUSE_LISTXATTR: try listAttributes(of: node, &request, &reply)
        case FUSE_REMOVEXATTR: try removeAttribute(of: node, &request)
        // The kernel does by itself, and from now on without asking, what it has another way for.
        default: throw Refusal(ENOSYS)
        }
    }
}

/// The calls in progress that use content, those that began before the last lock apart.
final class CallCounts: Sendable {
    private struct State {
        var counts = [0, 0]
        var present = 0
    }
    private let state = BriefLock(State())

    func during<R>(_ body: () throws(Refusal) -> R) throws(Refusal) -> R {
        let kind = state.withLock { state in
            state.counts[state.present] += 1
            return state.present
        }
        defer { state.withLock { $0.counts[kind] -= 1 } }
        return try body()
    }

    /// Begins to count anew. The calls so far are ``earlier``.
    func turn() { state.withLock { $0.present = 1 - $0.present } }

    var earlier: Int { state.withLock { $0.counts[1 - $0.present] } }
}

extension fuse_opcode {
    init(_ number: UInt32) { self.init(rawValue: number) }

    static func ~= (pattern: fuse_opcode, value: fuse_opcode) -> Bool { pattern.rawValue == value.rawValue }
}
