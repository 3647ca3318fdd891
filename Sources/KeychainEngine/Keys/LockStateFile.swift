internal import CKeychainLinux
package import FoundationEssentials
internal import Glibc
internal import KeychainModel
package import KeychainSystem
internal import Synchronization

/// The file by which processes notice each other's locking. Every operation reads it first.
///
/// The file holds no secret, and a process that can write it can also read the store's files as their owner. A crash of
/// the system locks every store anyhow, so nothing is forced to the disk.
package final class LockStateFile: LockStateKeeper {
    let url: URL
    private let path: String
    private let files: any FileSystem
    private let descriptor = Mutex<Int32>(-1)
    let isShared = true

    package init(_ url: URL, _ files: any FileSystem) {
        self.url = url
        path = url.path
        self.files = files
    }

    deinit {
        descriptor.withLock { if $0 >= 0 { close($0) } }
    }

    /// nil if there is no such file and none can be made, as on a read-only disk, if the file is new or damaged, or if
    /// something else is in its place: then the store is locked.
    ///
    /// The first file that was opened is read for as long as it is in its place, which costs a microsecond.
    package func read() -> LockRecord? {
        if let record = descriptor.withLock({ $0 }).nonNegative.flatMap(presentRecord) { return record }
        reopen()
        return descriptor.withLock { $0 }.nonNegative.flatMap(presentRecord)
    }

    /// nil if the file is not in its place any more: other processes then read and write another file.
    private func presentRecord(in file: Int32) -> LockRecord? { isInPlace(file) ? Self.record(in: file) : nil }

    /// The record, which is made if there is none yet; nil if none can be written.
    func readOrMake() -> LockRecord? {
        if let record = read() { return record }
        // If this fails, the store is locked.
        if !isGone { try? update { _ in } }
        return read()
    }

    /// Whether the file was present and is missing now. Only an unlock makes another one, since the store itself may be
    /// about to be removed.
    private var isGone: Bool { descriptor.withLock { $0 >= 0 } && !FilePath.exists(url.path) }

    /// Opens the file, on a read-only disk only for reading.
    private func open() -> Int32 {
        let file = (try? OwnFile.open(url, O_RDWR, through: files)) ?? (try? OwnFile.open(url, O_RDONLY))
        return file ?? -1
    }

    /// Called in case the file was removed, and another process made a new one.
    func reopen() {
        descriptor.withLock { descriptor in
            var other = open()
            if descriptor < 0 { return descriptor = other }
            // The old file must not be read any more. /dev/null has no record.
            if other < 0 { other = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
            guard other >= 0 else { return }
            // The number stays the same, since another thread may be reading from it at this moment.
            dup2(other, descriptor)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            close(other)
        }
    }

    private static func record(in file: Int32) -> LockRecord? {
        withUnsafeTemporaryAllocation(byteCount: LockRecord.byteCount, alignment: 8) { bytes in
            switch pread(file, bytes.baseAddress, bytes.count, 0) {
            case bytes.count: LockRecord(UnsafeRawBufferPointer(bytes))
            default: nil
            }
        }
    }

    /// A file that was moved or replaced may still have a name, but no process writes into it any more.
    private func isInPlace(_ file: Int32) -> Bool {
        var (opened, present) = (stat(), stat())
        return fstat(file, &opened) == 0 && lstat(path, &present) == 0 && opened.st_ino == present.st_ino
            && opened.st_dev == present.st_dev
    }

    /// Changes the record while no other process does, and runs `change` under that lock.
    ///
    /// - Throws: `.notAvailable` if the file cannot be written, or the error of `change`; then nothing is written.
    func update(
        within patience: Duration, _ change: (inout LockRecord) throws(KeychainError) -> Void, then follow: () -> Void
    ) throws(KeychainError) {
        let file = try openForChange()
        defer {
            // A forked child may have it open too, and would keep the lock.
            flock(file, LOCK_UN)
            close(file)
        }
        let end = ContinuousClock.now + patience
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno
            if failure == EINTR { continue }
            guard failure == EWOULDBLOCK, ContinuousClock.now < end else {
                throw KeychainError(file: "lock", url, failure)
            }
            usleep(1_000)
        }
        try write(change, to: file)
        follow()
    }

    /// Changes the record at once, even if another process has the turn.
    func force(_ change: (inout LockRecord) throws(KeychainError) -> Void) throws(KeychainError) {
        let file = try openForChange()
        defer { close(file) }
        try write(change, to: file)
    }

    private func openForChange() throws(KeychainError) -> Int32 {
        try OwnFile.make(url, through: files)
    }

    private func write(
        _ change: (inout LockRecord) throws(KeychainError) -> Void, to file: Int32
    ) throws(KeychainError) {
        let former = Self.record(in: file)
        let present = former ?? LockRecord()
        var record = present
        try change(&record)
        if record == former { return }
        // Only a lock writes the words of a lock, since a lock that did not wait for its turn may have written them
        // meanwhile. The epoch comes last, since a process that has seen it reads the rest once.
        let isLock = former == nil || record.lockedAt != present.lockedAt || record.graceEnd != present.graceEnd
        let (offsets, end) = (LockRecord.offsetsOfLock, LockRecord.offsetOfExpiry)
        let ranges =
            former == nil
            ? [0..<LockRecord.byteCount]
            : isLock ? [0..<end] : [offsets.upperBound..<end, 0..<offsets.lowerBound]
        let isWritten = withUnsafeTemporaryAllocation(byteCount: LockRecord.byteCount, alignment: 8) { bytes in
            record.write(to: bytes)
            return ranges.allSatisfy { range in
                files.write(UnsafeRawBufferPointer(rebasing: bytes[range]), to: file, at: range.lowerBound)
                    == range.count
            }
        }
        guard isWritten else { throw KeychainError(file: "write", url, errno) }
    }

    /// One word is written alone, so that using a key never waits.
    func noteUse(at time: UInt64) {
        let word = time.bigEndian
        descriptor.withLock { file in
            // The next use tries again; at worst the store locks itself early.
            _ = withUnsafeBytes(of: word) { files.write($0, to: file, at: LockRecord.offsetOfLastUse) }
        }
    }

    /// Two programs at once may leave the earlier date. The next program that meets the later item writes the later
    /// date again.
    func noteExpired(_ date: UInt64) {
        guard var record = read(), record.latestExpiry < date else { return }
        record.latestExpiry = date
        let words = record.expiryWords.map(\.bigEndian)
        descriptor.withLock { file in
            // A read-only disk does not keep the date: then a clock that is set back brings an item back.
            _ = words.withUnsafeBytes { files.write($0, to: file, at: LockRecord.offsetOfExpiry) }
        }
    }

    /// Forgets every date that was seen to have passed.
    ///
    /// - Throws: `.notAvailable` if the file cannot be written.
    func forgetExpired() throws(KeychainError) {
        let file = try openForChange()
        defer { close(file) }
        let words = LockRecord().expiryWords.map(\.bigEndian)
        let isWritten = words.withUnsafeBytes { files.write($0, to: file, at: LockRecord.offsetOfExpiry) == $0.count }
        guard isWritten else { throw KeychainError(file: "write", url, errno) }
    }

    /// Waits until the record's epoch differs from `epoch`, or the time is over.
    func waitForChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 {
        // The file must exist to be watched.
        if read() == nil {
            if isGone { throw KeychainError(file: "watch", url, ENOENT) }
            try update { _ in }
        }
        var watcher: Int32 = -1
        let failure = ckeychain_watch_file(url.path, &watcher)
        // A user has 128 watchers, unless the administrator allows another number (inotify(7)); without one the file is
        // read often.
        let isPolling = failure == EMFILE || failure == ENOSPC
        guard failure == 0 || isPolling else { throw KeychainError(file: "watch", url, failure) }
        defer { if !isPolling { close(watcher) } }
        guard let file = try OwnFile.open(url, O_RDONLY) else { throw KeychainError(file: "open", url, ENOENT) }
        defer { close(file) }
        let end = ContinuousClock.now + timeout
        while true {
            let present = Self.record(in: file)?.epoch ?? epoch
            let left = end - ContinuousClock.now
            if present != epoch { return present }
            // No process writes into a file that is not in its place any more.
            guard isInPlace(file) else { return epoch &+ 1 }
            if left <= .zero { return present }
            if isPolling {
                usleep(Self.pollingPause)
                continue
            }
            var hasChanged: Int32 = 0
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
            let failure = ckeychain_await_change(watcher, Int32(clamping: milliseconds), &hasChanged)
            guard failure == 0 else { throw KeychainError(file: "watch", url, failure) }
        }
    }

    /// The pause between looks, in microseconds.
    private static let pollingPause: useconds_t = 10_000

    // MARK: Listeners

    /// The listeners have a file of their own: over a network, a lock of a file's bytes and one of the whole file
    /// exclude each other.
    private var listeners: URL { url.deletingLastPathComponent().appendingPathComponent("lock-listeners") }

    /// Takes a lock of the file `lock-listeners`, which all listeners share. The kernel takes it from a killed process.
    func listen() throws(KeychainError) -> LockListening {
        let file = try OwnFile.make(listeners, O_RDONLY, through: files)
        let failure = ckeychain_share_byte(file, 0)
        guard failure == 0 else {
            close(file)
            throw KeychainError(file: "lock", listeners, failure)
        }
        return LockListening {
            // A forked child may have it open too, and would keep the lock.
            _ = ckeychain_unlock_byte(file, 0)
            close(file)
        }
    }

    /// false if the file cannot be read: then no lock waits for listeners.
    var hasListeners: Bool {
        guard let file = try? OwnFile.open(listeners, O_RDONLY) else { return false }
        defer { close(file) }
        var isLocked: Int32 = 0
        return ckeychain_is_byte_locked(file, 0, &isLocked) == 0 && isLocked != 0
    }
}

extension Int32 {
    /// nil if the number is no descriptor.
    fileprivate var nonNegative: Int32? { self < 0 ? nil : self }
}
