internal import DataProtectionCore
internal import Glibc
internal import KeychainSystem
internal import Synchronization

/// A file or directory that the kernel knows by a number. It is held by a descriptor, so a rename does not matter.
final class Node: Sendable {
    let id: UInt64
    /// A descriptor that only names it (O_PATH).
    let descriptor: OpenDescriptor
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
        self.descriptor = descriptor
        number = FileNumber(status)
        type = status.st_mode & S_IFMT
    }

    func noteName(_ name: UnsafePointer<CChar>, in directory: Node) {
        place.withLock { place in
            if let place, place.directory === directory, strcmp(place.name, name) == 0 { return }
            place = Place(directory: directory, name: Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)))
        }
    }

    /// A name that leads to it wherever it is. Links in it are followed by the kernel alone.
    var path: String { "/proc/self/fd/\(descriptor.number)" }
    var isRegular: Bool { type == S_IFREG }

    func status() throws(Refusal) -> stat {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw .ofSystem() }
        return status
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
