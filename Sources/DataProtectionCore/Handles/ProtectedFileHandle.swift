public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
public import SealedFiles
internal import Synchronization

/// A protected file that is open: parts of it are read and changed, while the keychain is locked and unlocked.
///
/// ```swift
/// let handle = try files.open(url, for: .writing)
/// let head = try handle.read(at: 0, count: 100)
/// try handle.write(Data("new".utf8), at: 40)
/// try handle.close()
/// ```
///
/// **The lock.** The class of the file says how an open file behaves, as on Apple's systems:
///
/// | class | while the keychain is locked |
/// |---|---|
/// | ``FileProtection/complete`` | every call throws `.locked` until the unlock; then the handle works again |
/// | ``FileProtection/completeUnlessOpen`` | the handle works until it is closed |
/// | ``FileProtection/completeWhenUserInactive`` | the handle works for the time after a lock, and then as in class A |
/// | the others | the handle works |
///
/// In class A, a call that had begun before the lock may go on for ten seconds, and bytes that were written before it
/// are on the disk. With a daemon, a call may still succeed up to twenty milliseconds after the lock.
///
/// **Other handles and programs.** Every call sees what earlier calls have written, in any program. A call that reads
/// gives the state that some write has left, never a mixture of two. A call that writes at most 4 MiB is seen whole or
/// not at all. Two writers never lose each other's bytes, even within one chunk. A program that is killed while it
/// writes leaves the former state, and other programs do not have to wait for it.
///
/// **A power cut.** The file has everything that was there at the last `sync()`, and is as that call or a later write
/// has left it. It is never a mixture, and opening it is no error. `close()` makes durable too; dropping the handle
/// does not.
///
/// **Threads.** All calls may be made from several threads at once. They block their thread, and six of them have an
/// `async` form. A forked child cannot use its parent's handle (`.keysUnavailable`).
///
/// **Space.** Until the next `sync()`, bytes that were overwritten stay on the disk beside the new ones. Afterwards
/// their place is used again. A file that is changed in place takes up to a quarter more than its content.
///
/// **Limits of the protection.** The handle does *not* protect content that it gave out. A program that changes the
/// file as if it were a plain one damages it, which is detected.
public final class ProtectedFileHandle: Sendable {
    /// The number of bytes that are written at once.
    static let batch = 4 << 20

    let file: SealedFile
    let openFiles: OpenFiles
    let appends: Bool
    /// The position of ``offset()``. The calls that use it hold this mutex.
    let position = Mutex<UInt64>(0)
    /// The directory in which the name of a new file is not on the disk yet.
    private let madeIn: Mutex<String?>

    init(_ file: SealedFile, _ openFiles: OpenFiles, appends: Bool, madeIn directory: String?) {
        self.file = file
        self.openFiles = openFiles
        self.appends = appends
        madeIn = Mutex(directory)
        openFiles.add(file)
    }

    deinit { openFiles.remove(ObjectIdentifier(file)) }

    /// The path that the file was opened with, after links. The file may have another name by now.
    public var path: String { file.path }

    // MARK: Asking

    /// The length of the content in bytes.
    ///
    /// Each read of this property looks at the file's header, so it sees changes by other programs.
    ///
    /// - Throws: `.locked` while the keychain is locked and the class forbids it; `.system` with `EBADF` after
    ///   `close()`.
    public var length: UInt64 {
        get throws(DataProtectionError) { try file.current().version.header.length }
    }

    /// The class of the file, which another program may change while the file is open.
    ///
    /// - Throws: `.locked` while the keychain is locked and the class forbids it; `.system` with `EBADF` after
    ///   `close()`.
    public var protection: FileProtection {
        get throws(DataProtectionError) { FileProtection(try file.current().version.header.fileClass) }
    }

    /// Whether this process has the key of the file at the moment.
    package var hasKey: Bool { file.lease.hasKey }

    // MARK: Reading

    /// Reads from a place until the target is full or the content ends. All bytes are of one version of the file.
    ///
    /// - Parameters:
    ///   - offset: The place in bytes from the beginning of the content.
    ///   - target: The memory that is filled. If the call throws, its content is undefined and may be a part of the
    ///     file.
    /// - Returns: The number of bytes that were read. It is 0 at the end of the content and behind it.
    /// - Throws: `.locked`, `.tampered`, `.truncated`, `.wrongKey` or `.keysUnavailable`; `.system` with `EBADF` after
    ///   `close()`.
    public func read(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> Int {
        try file.read(at: offset, into: target)
    }

    /// Reads bytes from a place: fewer where the content ends, and none behind the end.
    ///
    /// ```swift
    /// let header = try handle.read(at: 0, count: 512)
    /// ```
    ///
    /// All bytes are of one version of the file. Memory that the call has filled before it throws is erased.
    ///
    /// - Parameters:
    ///   - offset: The place in bytes from the beginning of the content.
    ///   - count: The largest number of bytes. A negative number ends the program.
    /// - Throws: The errors of `read(at:into:)`; `.system` with `ENOMEM` if there is not enough memory.
    public func read(at offset: UInt64, count: Int) throws(DataProtectionError) -> Data {
        precondition(count >= 0, "a negative number of bytes")
        return try file.content(at: offset, count: count)
    }

    // MARK: Writing

    /// Writes bytes at a place, which may be behind the end of the content.
    ///
    /// ```swift
    /// try handle.write(record, at: UInt64(number * 256))
    /// try handle.sync()  // from here on it survives a power cut
    /// ```
    ///
    /// A gap between the end and the place reads as zeros and takes no space. The bytes are seen by every later call in
    /// any program, and are on the disk after `sync()`. A change of a few bytes writes six or seven pages of 4 KiB, so
    /// small writes are best gathered into larger ones.
    ///
    /// - Parameters:
    ///   - data: The bytes. Up to 4 MiB are written whole or not at all, more than that in several parts.
    ///   - offset: The place in bytes from the beginning of the content.
    /// - Throws: `.locked`. `.system` with `ENOSPC` if the disk is full, with `EBADF` if the file is open for reading
    ///   or closed, and with `EFBIG` beyond 2⁶⁰ bytes. Earlier parts of more than 4 MiB may be written then, otherwise
    ///   nothing is.
    public func write(_ data: Data, at offset: UInt64) throws(DataProtectionError) {
        try data.withBytes { (bytes) throws(DataProtectionError) in try write(bytes, at: offset) }
    }

    /// Writes bytes in memory at a place.
    ///
    /// It spares the copy into a `Data`. Otherwise it does what `write(_:at:)` with a `Data` does.
    ///
    /// - Parameters:
    ///   - bytes: The bytes. Up to 4 MiB are written whole or not at all.
    ///   - offset: The place in bytes from the beginning of the content.
    /// - Throws: The errors of `write(_:at:)` with a `Data`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DataProtectionError) {
        try inBatches(bytes, from: offset) { (part, place, access) throws(DataProtectionError) in
            _ = try file.write(part, at: place, access)
        }
    }

    /// Adds bytes to the end, wherever that is at this moment.
    ///
    /// Records of up to 4 MiB that several programs append at once come one after the other, each whole. A longer one
    /// may have the record of another program between its parts.
    ///
    /// - Parameter data: The bytes.
    /// - Returns: The place of the first byte, counted from the beginning of the content.
    /// - Throws: The errors of `write(_:at:)`.
    @discardableResult
    public func append(_ data: Data) throws(DataProtectionError) -> UInt64 {
        try data.withBytes { (bytes) throws(DataProtectionError) in try append(bytes) }
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(DataProtectionError) -> UInt64 {
        var first: UInt64?
        try inBatches(bytes, from: 0) { (part, _, access) throws(DataProtectionError) in
            let place = try file.write(part, at: nil, access)
            first = first ?? place
        }
        if let first { return first }
        return try length
    }

    /// Writes in parts.
    ///
    /// - Parameter write: Called with one part after the other and the place where it belongs.
    private func inBatches(
        _ bytes: UnsafeRawBufferPointer, from offset: UInt64,
        _ write: (UnsafeRawBufferPointer, UInt64, SealedFile.Access) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        guard file.mayWrite else { throw .system("write", path, errno: EBADF) }
        try file.lease.duringLongCall { () throws(DataProtectionError) in
            var start = 0
            while start < bytes.count {
                let (place, overflow) = offset.addingReportingOverflow(UInt64(start))
                guard !overflow else { throw .system("write", path, errno: EFBIG) }
                // Bytes that fit are written at once. Otherwise a part ends with a chunk, so that the next part begins
                // with one.
                let left = bytes.count - start
                let count = left <= Self.batch ? left : Self.batch - Int(place % UInt64(Self.batch))
                let part = bytes.extracting(start..<(start + count))
                try write(part, place, start == 0 ? .beginning : .continuing)
                start += count
            }
        }
    }

    /// Makes the content shorter or longer.
    ///
    /// Bytes beyond the new length are lost. Bytes that are added are zeros and take no space. Former content stays on
    /// the disk, encrypted, until its place is used again.
    ///
    /// - Parameter length: The new length in bytes, at most 2⁶⁰.
    /// - Throws: The errors of `write(_:at:)`. The length is the former one then.
    public func truncate(to length: UInt64) throws(DataProtectionError) { try file.truncate(to: length) }

    /// Makes a part of the content zeros. The length stays.
    ///
    /// Whole chunks of zeros take no space, and the next `sync()` gives their space back to the disk.
    ///
    /// - Parameter range: The bytes, counted from the beginning. Bytes beyond the end are ignored.
    /// - Throws: The errors of `write(_:at:)`. The content is the former one then.
    public func punch(_ range: Range<UInt64>) throws(DataProtectionError) { try file.punch(range) }

    /// Waits until the disk has everything that was written before, by any handle and any program.
    ///
    /// It costs as much as the disk takes, while a write costs some tens of microseconds. A program does best to sync
    /// once for all writes that belong together.
    ///
    /// - Throws: `.system` if the disk refuses. From then on this handle never reports success again: write the content
    ///   to another file. After a power cut the file may be as it was at the sync before. `.system` with `EBADF` if the
    ///   file is open for reading and some write was not made durable. `.locked` if a write has to be made durable
    ///   while the class forbids it.
    public func sync() throws(DataProtectionError) {
        try file.sync()
        guard let directory = madeIn.withLock({ $0 }) else { return }
        try FilePath.sync(directory, files: file.files)
        madeIn.withLock { $0 = nil }
    }

    /// Gives the file another class by wrapping its key, which takes no longer for a large file.
    ///
    /// The call waits for calls that write, in every program, and makes durable what was written. All handles of the
    /// file, in every program, have the new class at once.
    ///
    /// - Parameter protection: The new class.
    /// - Throws: `.locked` if the file's key, or the key for the new class, is locked away; `.system` with `EBADF` if
    ///   the file is open for reading or closed.
    public func setProtection(_ protection: FileProtection) throws(DataProtectionError) {
        try file.setClass(protection.fileClass) { () throws(DataProtectionError) in }
    }

    // MARK: Closing

    /// Makes durable what was written, and closes the file.
    ///
    /// A later call throws `.system` with `EBADF`. Closing a second time does nothing. The key of the file leaves this
    /// process, unless another handle has it open.
    ///
    /// - Throws: The errors of `sync()`. The file is closed in any case. Its last writes are there until the system
    ///   crashes.
    public func close() throws(DataProtectionError) {
        if file.isClosed { return }
        defer { closeWithoutWaiting() }
        if file.mayWrite { try sync() }
    }

    /// Closes the file without waiting for the disk, as dropping the handle does.
    ///
    /// The last writes are seen by other programs, and are lost only if the system crashes before the disk has them.
    public func closeWithoutWaiting() {
        file.close()
        openFiles.remove(ObjectIdentifier(file))
    }
}
