internal import CKeychainFuse
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// Tells the kernel what other programs change in the directories below (fanotify(7)), so that it may keep content from one
/// opening of a file to the next. The changes of this program come through the kernel, which knows them.
final class DirectoryWatch: Sendable {
    /// A directory as changes name it: a `struct file_handle`.
    private typealias Handle = [UInt8]

    private let descriptor: OpenDescriptor
    private let directories = Mutex<[Handle: UInt64]>([:])

    /// - Returns: `nil` on a system that does not tell an ordinary user of changes. Content is read again with each opening then.
    init?() {
        var opened: Int32 = -1
        guard ckeychain_fuse_open_watch(&opened) == 0 else { return nil }
        descriptor = OpenDescriptor(opened)
    }

    /// Begins to watch a directory that the kernel knows.
    ///
    /// - Returns: false if that cannot be, as on some file systems, or where there are too many directories.
    func add(_ directory: Node) -> Bool {
        var handle = Handle(repeating: 0, count: 256)
        var count = 0
        guard
            ckeychain_fuse_watch(
                descriptor.number, directory.descriptor.number, &handle, handle.count, &count) == 0
        else { return false }
        directories.withLock { $0[Array(handle[..<count])] = directory.id }
        return true
    }

    /// Tells the kernel of changes until the end of this program.
    func start(_ nodes: NodeTable, _ device: Device) throws(KeychainError) {
        try WorkerThread.start("keychain watch") { [self] in
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(descriptor.number, &bytes, bytes.count)
                if count < 0 && errno != EINTR { return }
                bytes.withUnsafeBytes { bytes in
                    for change in DirectoryChanges(UnsafeRawBufferPointer(rebasing: bytes[..<max(0, count)])) {
                        tell(change, nodes, device)
                    }
                }
            }
        }
    }

    private func tell(_ change: DirectoryChange, _ nodes: NodeTable, _ device: Device) {
        guard !change.isLost else {
            for node in nodes.all { device.forget(node.id, withPages: true) }
            return
        }
        guard change.process != getpid(), let id = directories.withLock({ $0[change.directory] }),
            let directory = try? nodes.node(id)
        else { return }
        if change.isOfNames { device.forget(change.name, in: id) }
        var status = stat()
        let found = fstatat(directory.descriptor.number, change.name, &status, AT_SYMLINK_NOFOLLOW) == 0
        if found, let node = nodes.node(FileNumber(status)) { device.forget(node.id, withPages: true) }
    }
}

/// A change of an entry of a directory.
struct DirectoryChange: Equatable {
    /// Whether earlier changes were not told, since there were too many.
    var isLost = false
    /// Whether a name has appeared, gone or got another meaning. Otherwise a file has other content or attributes.
    var isOfNames = false
    /// The process that made the change, if it is this one.
    var process: pid_t = 0
    var directory: [UInt8] = []
    /// The name of the entry, with a final zero.
    var name: [CChar] = []
}

/// The changes in bytes that fanotify(7) has given.
struct DirectoryChanges: Sequence, IteratorProtocol {
    /// FAN_Q_OVERFLOW; FAN_CREATE, FAN_DELETE, FAN_MOVED_FROM and FAN_MOVED_TO; FAN_EVENT_INFO_TYPE_DFID_NAME.
    private static let (overflow, ofNames, nameRecord): (UInt64, UInt64, UInt8) = (0x4000, 0x3c0, 2)
    private static let (headSize, recordSize, handleHeadSize) = (24, 12, 8)

    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func next() -> DirectoryChange? {
        guard rest.count >= Self.headSize else { return nil }
        let size = Int(rest.loadUnaligned(as: UInt32.self))
        guard size >= Self.headSize, size <= rest.count else { return nil }
        let event = UnsafeRawBufferPointer(rebasing: rest[..<size])
        rest = UnsafeRawBufferPointer(rebasing: rest[size...])
        let mask = event.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        var change = DirectoryChange()
        change.isLost = mask & Self.overflow != 0
        change.isOfNames = mask & Self.ofNames != 0
        change.process = event.loadUnaligned(fromByteOffset: 20, as: pid_t.self)
        let record = event[Self.headSize...]
        let handleStart = Self.headSize + Self.recordSize
        guard record.first == Self.nameRecord, event.count >= handleStart + Self.handleHeadSize else { return change }
        let handleSize = Int(event.loadUnaligned(fromByteOffset: handleStart, as: UInt32.self))
        let nameStart = handleStart + Self.handleHeadSize + handleSize
        guard nameStart < event.count, let end = event[nameStart...].firstIndex(of: 0) else { return change }
        change.directory = Array(event[handleStart..<nameStart])
        change.name = event[nameStart...end].map { CChar(bitPattern: $0) }
        return change
    }
}
