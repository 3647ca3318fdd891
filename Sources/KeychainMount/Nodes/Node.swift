internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// A file or directory that the kernel knows by a number. It is held by a descriptor, so a rename does not matter.
///
/// A file that no program has open may rest: without a descriptor, until it is used again by the name that it had last. If it
/// is looked up meanwhile, it gets another node.
final class Node: Sendable {
    let id: UInt64
    private struct Hold {
        /// A descriptor that only names it (O_PATH).
        var descriptor: OpenDescriptor?
        var uses = 0
    }
    private let hold: BriefLock<Hold>
    /// The number of descriptors of nodes.
    static let held = Atomic(0)
    let number: FileNumber
    /// The kind of file: a value of `S_IFMT`.
    let type: mode_t
    /// The name that it was found by last.
    let place = Mutex<Place?>(nil)
    /// Held while the file is being opened, and while an opening removes the content. Both may have to wait for another program.
    let (opening, emptying) = (Condition(), Condition())
    /// The time until which openings for writing do not wait for another program again, which has the file locked.
    let busyUntil = Mutex(ContinuousClock.now)
    /// The content, while a program has the file open. Nothing waits while it has this lock.
    let use = Mutex(Use())

    /// When the kernel was told of the attributes last, by ``clock``.
    let told = Atomic(0)
    /// In seconds since the start of the system.
    static var clock: Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
        return now.tv_sec
    }

    struct Place: Sendable {
        let directory: Node
        /// The name with a final zero.
        let name: [CChar]
    }

    struct Use {
        var content: Content?
        /// The number of times that programs have it open.
        var opens = 0
        /// Whether the kernel may have pages of the content.
        var mayHavePages = false
        /// The content as the last opening found it, and as it was when the kernel began with its pages. `nil`: not known.
        var found: ProtectedFiles.ContentMark?
        var ofPages: ProtectedFiles.ContentMark?
        /// Whether the last opening has found less than the newest header claims.
        var isRetreat = false
        /// Whether the content must leave the system's memory at a lock.
        var isGuarded = false
    }

    init(_ id: UInt64, _ descriptor: OpenDescriptor, _ status: stat) {
        self.id = id
        hold = BriefLock(Hold(descriptor: descriptor))
        number = FileNumber(status)
        type = status.st_mode & S_IFMT
        Self.held.add(1, ordering: .relaxed)
    }

    deinit { if hold.withLock({ $0.descriptor != nil }) { Self.held.subtract(1, ordering: .relaxed) } }

    /// The descriptor. A file has one during ``awake(_:)`` and while it is open, and a directory always. -1: it rests.
    var descriptor: Int32 { hold.withLock { $0.descriptor?.number ?? -1 } }

    /// Runs a call that needs the descriptor.
    ///
    /// - Throws: `ESTALE` for a resting file that has its name no more. The kernel looks the name up again then.
    func awake<R>(_ body: () throws(Refusal) -> R) throws(Refusal) -> R {
        let rests = hold.withLock { hold in
            hold.uses += 1
            return hold.descriptor == nil
        }
        defer {
            hold.withLock { $0.uses -= 1 }
            if Self.areTooMany { rest() }
        }
        if rests { try wake() }
        return try body()
    }

    private func wake() throws(Refusal) {
        guard let place = place.withLock({ $0 }) else { throw Refusal(ESTALE) }
        let (descriptor, status): (OpenDescriptor, stat)
        do throws(Refusal) {
            (descriptor, status) = try place.directory.look(place.name)
        } catch {
            throw error.number == ENOENT ? Refusal(ESTALE) : error
        }
        guard FileNumber(status) == number, status.st_mode & S_IFMT == type else { throw Refusal(ESTALE) }
        hold.withLock { hold in
            guard hold.descriptor == nil else { return }
            hold.descriptor = descriptor
            Self.held.add(1, ordering: .relaxed)
        }
    }

    /// The file of a name in this directory, opened to be named.
    func look(_ name: UnsafePointer<CChar>) throws(Refusal) -> (OpenDescriptor, stat) {
        var opened: Int32 = -1
        try Refusal.require(ckeychain_fuse_open_name(descriptor, name, &opened))
        let found = OpenDescriptor(opened)
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw .ofSystem() }
        return (found, status)
    }

    /// Gives the descriptor up, if it can be had again. A pipe may be in use, which the kernel does not tell.
    func rest() {
        guard type == S_IFREG || type == S_IFLNK, place.withLock({ $0 != nil }) else { return }
        // It is closed outside of the lock.
        let descriptor = hold.withLock { hold -> OpenDescriptor? in
            guard hold.uses == 0, use.withLock({ $0.opens == 0 }) else { return nil }
            defer { hold.descriptor = nil }
            return hold.descriptor
        }
        if descriptor != nil { Self.held.subtract(1, ordering: .relaxed) }
    }

    func noteName(_ name: UnsafePointer<CChar>, in directory: Node) {
        place.withLock { place in
            if let place, place.directory === directory, strcmp(place.name, name) == 0 { return }
            place = Place(directory: directory, name: Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)))
        }
    }

    /// A name that leads to it wherever it is. Links in it are followed by the kernel alone.
    var path: String { "/proc/self/fd/\(descriptor)" }
    var isRegular: Bool { type == S_IFREG }

    func status() throws(Refusal) -> stat {
        try awake { () throws(Refusal) in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .ofSystem() }
            return status
        }
    }
}

extension FileProtection {
    /// Whether files of the class stop opening at a lock. Their content is kept out of the system's memory.
    var isGuarded: Bool {
        switch self {
        case .completeUntilFirstUserAuthentication, .always: false
        default: true
        }
    }
}
