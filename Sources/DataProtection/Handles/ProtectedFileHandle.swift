public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// A protected file that is open: parts of it are read and changed, while the lock of the keychain comes and goes.
///
/// ```swift
/// let handle = try files.open(url, for: .writing)
/// let head = try handle.read(at: 0, count: 100)
/// try handle.write(Data("new".utf8), at: 40)
/// try handle.close()
/// ```
///
/// **The lock.** How a file that is open behaves follows from its class, as on Apple's systems:
///
/// | class | while the keychain is locked |
/// |---|---|
/// | ``FileProtection/complete`` | every call is refused (`.locked`), and works again after the unlock without opening the file anew. A call that had begun may go on for ten seconds. What was written before is on the disk |
/// | ``FileProtection/completeUnlessOpen`` | goes on until it is closed |
/// | the others | go on |
///
/// With a daemon, class A is refused at the latest twenty milliseconds after the lock.
///
/// **Other handles and programs.** What a call has written is seen by every call that begins afterwards, in any program.
/// A call that reads gives what some write has left, never a mixture; one that writes at most 4 MiB is seen whole or not
/// at all. Two writers never lose each other's bytes, also within one chunk. Whoever is killed while writing leaves what
/// was before, and nobody waits for it.
///
/// **A power cut.** After it, the file has everything that was there at the last `sync()`, and then as some later write
/// has left it: never a mixture, never an error. `close()` makes durable, too; letting a handle go away does not.
///
/// All calls may be made from several threads at once; they block. For tasks there are the same with `async`.
///
/// Space: as long as nothing is made durable, what is overwritten stays on the disk besides what is new; afterwards its
/// place is used again. A file that is changed in place takes up to a quarter more than its content.
///
/// It does *not* protect against a program that changes the file as if it were a plain one, which is detected, nor
/// content that was given out.
public final class ProtectedFileHandle: Sendable {
    /// How much is written at once, in bytes.
    static let batch = 4 << 20

    let file: SealedFile
    private let openFiles: OpenFiles
    let appends: Bool
    /// Of ``offset``; belongs to the calls that use it.
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

    /// As it was opened; the file may have another name by now.
    public var path: String { file.path }

    // MARK: Asking

    /// How long the content is, in bytes.
    ///
    /// - Throws: `.locked` as every call.
    public var length: UInt64 {
        get throws(DataProtectionError) { try file.current().0.header.length }
    }

    /// The class of the file, which another program may change while it is open.
    public var protection: FileProtection {
        get throws(DataProtectionError) { FileProtection(try file.current().0.header.fileClass) }
    }

    /// Whether this process has the key of the file at the moment.
    package var hasKey: Bool { file.hasKey }

    // MARK: Reading

    /// Reads from a place until the target is full or the content ends.
    ///
    /// - Returns: how many bytes there were; 0 at the end and behind it.
    public func read(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> Int {
        try file.read(at: offset, into: target)
    }

    /// Reads up to as many bytes from a place; fewer where the content ends, none behind it.
    ///
    /// - Throws: `.system` with ENOMEM if there is not as much memory.
    public func read(at offset: UInt64, count: Int) throws(DataProtectionError) -> Data {
        precondition(count >= 0, "a negative number of bytes")
        let length = try length
        let count = Int(min(UInt64(count), length - min(offset, length)))
        guard count > 0 else { return Data() }
        guard let bytes = malloc(count) else { throw .system("read into memory", path, errno: ENOMEM) }
        let target = UnsafeMutableRawBufferPointer(start: bytes, count: count)
        do throws(DataProtectionError) {
            let read = try file.read(at: offset, into: target)
            return Data(bytesNoCopy: bytes, count: read, deallocator: .free)
        } catch {
            // Parts of it may have been opened.
            ckeychain_erase(bytes, count)
            free(bytes)
            throw error
        }
    }

    // MARK: Writing

    /// Writes at a place, which may be behind the end: what is between is zeros then, and takes no space.
    ///
    /// - Throws: `.system` with ENOSPC if the disk is full; of more than 4 MiB the first part may be written then.
    public func write(_ data: Data, at offset: UInt64) throws(DataProtectionError) {
        try data.withBytes { (bytes) throws(DataProtectionError) in try write(bytes, at: offset) }
    }

    /// The same with bytes in memory.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DataProtectionError) {
        try inBatches(bytes, from: offset) { (part, place, access) throws(DataProtectionError) in
            _ = try file.write(part, at: place, access)
        }
    }

    /// Adds to the end, wherever that is at this moment: what several programs add at once comes one after the other.
    ///
    /// - Returns: where it is. What is longer than 4 MiB may have another program's between its parts.
    @discardableResult
    public func append(_ data: Data) throws(DataProtectionError) -> UInt64 {
        try data.withBytes { (bytes) throws(DataProtectionError) in
            var first: UInt64?
            try inBatches(bytes, from: 0) { (part, _, access) throws(DataProtectionError) in
                let place = try file.write(part, at: nil, access)
                first = first ?? place
            }
            if let first { return first }
            return try length
        }
    }

    /// - Parameter write: Is given one part after the other, and where it belongs.
    private func inBatches(
        _ bytes: UnsafeRawBufferPointer, from offset: UInt64,
        _ write: (UnsafeRawBufferPointer, UInt64, SealedFile.Access) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        guard file.mayWrite else { throw .system("write", path, errno: EBADF) }
        try file.duringLongCall { () throws(DataProtectionError) in try writeBatches(bytes, from: offset, write) }
    }

    private func writeBatches(
        _ bytes: UnsafeRawBufferPointer, from offset: UInt64,
        _ write: (UnsafeRawBufferPointer, UInt64, SealedFile.Access) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        var start = 0
        while start < bytes.count {
            let (place, overflow) = offset.addingReportingOverflow(UInt64(start))
            guard !overflow else { throw .system("write", path, errno: EFBIG) }
            // What fits is written at once; otherwise up to the end of a chunk, so that the next part begins with one.
            let left = bytes.count - start
            let count = left <= Self.batch ? left : Self.batch - Int(place % UInt64(Self.batch))
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
            try write(part, place, start == 0 ? .beginning : .continuing)
            start += count
        }
    }

    /// Makes the content as long as this. What is cut off is gone; what is added is zeros, and takes no space.
    public func truncate(to length: UInt64) throws(DataProtectionError) { try file.truncate(to: length) }

    /// Makes a part of the content zeros, which take no space where they fill whole chunks. The length stays.
    ///
    /// Space is given back to the disk by the next `sync()`.
    public func punch(_ range: Range<UInt64>) throws(DataProtectionError) { try file.punch(range) }

    /// Returns when the disk has everything that was written before this, by whatever handle or program.
    ///
    /// - Throws: `.system` if the disk refuses. The handle refuses from then on to say that anything is on the disk;
    ///   after a power cut the file may be as it was at the sync before. EBADF if the file is open for reading alone and
    ///   has something that was not made durable.
    public func sync() throws(DataProtectionError) {
        try file.sync()
        guard let directory = madeIn.withLock({ $0 }) else { return }
        try FilePath.sync(directory, files: file.files)
        madeIn.withLock { $0 = nil }
    }

    /// Gives the file another class: its key is wrapped anew, whatever its size. Waits for calls that write, in every
    /// program, and makes durable what was written.
    public func setProtection(_ protection: FileProtection) throws(DataProtectionError) {
        try file.setClass(protection.fileClass) { () throws(DataProtectionError) in }
    }

    // MARK: Closing

    /// Makes durable what was written, and closes the file. Every later call fails (EBADF), closing again does not.
    ///
    /// - Throws: what `sync()` throws. The file is closed all the same, and what was written is there for as long as
    ///   the system does not crash.
    public func close() throws(DataProtectionError) {
        if file.isClosed { return }
        defer { closeWithoutWaiting() }
        if file.mayWrite { try sync() }
    }

    /// Closes the file without waiting for the disk, as letting the handle go away does.
    public func closeWithoutWaiting() {
        file.close()
        openFiles.remove(ObjectIdentifier(file))
    }
}

extension Data {
    func withBytes<R>(
        _ body: (UnsafeRawBufferPointer) throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        try withUnsafeBytes { bytes in Result { () throws(DataProtectionError) in try body(bytes) } }.get()
    }
}
