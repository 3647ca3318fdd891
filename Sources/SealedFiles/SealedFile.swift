package import FoundationEssentials
internal import Glibc
package import KeychainCrypto
internal import KeychainModel
package import KeychainSystem
internal import Synchronization

/// One protected file that is open.
///
/// Readers normally wait for no other call. Writers take turns: in this process by a lock of this object, and between
/// processes by a lock of the file. Each call looks at the header, so it sees the changes that others have made.
/// docs/file-format.md explains slots, the base and boot marks.
package final class SealedFile: Sendable {
    package let path: String
    let environment: Environment
    /// The key, and the facts that were verified with it.
    package let lease: KeyLease
    /// The open file. `nil` means that it is closed.
    private let opened: Mutex<Descriptor?>
    /// The turn of the writers in this process. A lock of the file belongs to the open file, so other threads would
    /// share it.
    private let turn = Mutex(WritersMemory())
    /// The generation of the process. A forked child has the descriptor of the file and not its key.
    private let forkGeneration = ForkGeneration.current

    /// The keys and the system that the file works with.
    package struct Environment: Sendable {
        package let keys: any FileKeySource
        package let files: any FileSystem
        package let randomness: any Randomness
        package let bootID: UUID

        package init(keys: any FileKeySource, files: any FileSystem, randomness: any Randomness, bootID: UUID) {
            self.keys = keys
            self.files = files
            self.randomness = randomness
            self.bootID = bootID
        }
    }

    /// A descriptor that is closed when its last user is gone.
    package final class Descriptor: Sendable {
        package let number: Int32
        let mayWrite: Bool
        private let mustClose: Bool

        package init(_ number: Int32, mayWrite: Bool, mustClose: Bool) {
            self.number = number
            self.mayWrite = mayWrite
            self.mustClose = mustClose
        }

        deinit { if mustClose { Glibc.close(number) } }
    }

    /// The part of a call, which decides how a lock of the keychain affects the file.
    package enum Access {
        /// The call begins.
        case beginning
        /// The call goes on. It may do so for ten seconds after a lock.
        case continuing
    }

    /// A version of the file, and the key that it was verified with.
    package typealias Found = (version: FileVersion, key: OpenFileKey)

    /// Makes the object for an open file.
    ///
    /// - Parameters:
    ///   - key: The file's key if it is known already, as for a file that was just made.
    package init(
        _ descriptor: Descriptor, _ path: String, _ environment: Environment, key: OpenFileKey? = nil
    ) {
        self.path = path
        self.environment = environment
        opened = Mutex(descriptor)
        lease = KeyLease(key)
    }

    package func descriptor() throws(DataProtectionError) -> Descriptor {
        guard ForkGeneration.current == forkGeneration else {
            throw DataProtectionError(
                .keysUnavailable, path, "a forked process cannot use a protected file that its parent has opened")
        }
        guard let descriptor = opened.withLock({ $0 }) else { throw .system("use", path, errno: EBADF) }
        return descriptor
    }

    // MARK: The present version

    /// The file as it is now, and its key.
    ///
    /// - Throws: `.locked` if the keychain is locked and the class forbids the use of an open file.
    package func current(_ access: Access = .beginning, isLocked: Bool = false) throws(DataProtectionError) -> Found {
        let found = try version(in: try descriptor(), isLocked: isLocked)
        if access == .beginning { try requireUse(of: found) }
        return found
    }

    private func requireUse(of found: Found) throws(DataProtectionError) {
        do throws(DataProtectionError) {
            try environment.keys.requireUse(of: found.version.header.key.fileClass, path)
        } catch {
            lease.lose()
            throw error
        }
    }

    /// The version that was seen last, if the file still has its slots.
    private func known(in file: Descriptor) throws(DataProtectionError) -> Found? {
        // The bytes reach to the end of the second slot.
        let count = FileFormat.slotOffsets[1] + FileFormat.slotByteCount
        return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { page throws(DataProtectionError) in
            let read = try page.fill(from: file.number, at: 0, path)
            return lease.version(in: UnsafeRawBufferPointer(page.extracting(..<read)))
        }
    }

    func version(in file: Descriptor, isLocked: Bool) throws(DataProtectionError) -> Found {
        if let known = try known(in: file) { return known }
        if isLocked { return try lookLocked(at: file) }
        do throws(DataProtectionError) {
            if let found = try lookHastily(at: file) { return found }
        } catch {
            // A header that another program is writing at this moment may look damaged.
            guard error.code == .tampered || error.code == .truncated else { throw error }
        }
        return try withSharedLock(file) { () throws(DataProtectionError) in try lookLocked(at: file) }
    }

    /// Looks at the file without its lock.
    ///
    /// - Returns: `nil` if the look has to be repeated under the lock. A slot may be half written at this moment, or
    ///   the content has to be looked through and must stay as it is for that time.
    private func lookHastily(at file: Descriptor) throws(DataProtectionError) -> Found? {
        let losses = lease.losses
        let (page, pair) = try headers(file)
        guard pair.areBothWhole else { return nil }
        let key = try key(for: pair.newest.claimed.key)
        guard pair.newest.claimed.isKnown(to: key.bootMark) else { return nil }
        return try judge(pair, page, key, file, asOf: losses)
    }

    /// Looks at the file under its lock.
    func lookLocked(at file: Descriptor) throws(DataProtectionError) -> Found {
        let losses = lease.losses
        let (page, pair) = try headers(file)
        return try judge(pair, page, try key(for: pair.newest.claimed.key), file, asOf: losses)
    }

    private func judge(
        _ pair: FileHeaderPair, _ page: Data, _ key: OpenFileKey, _ file: Descriptor, asOf losses: Int
    ) throws(DataProtectionError) -> Found {
        let newest = try withFormatErrors(path) { () throws(FileFormatError) in
            try pair.newest.verified(fileKey: key.fileKey)
        }
        let former = newest.isDurable ? pair.former?.claimed : try? pair.former?.verified(fileKey: key.fileKey)
        let judgement = try HeaderJudgement<DataProtectionError>(
            newest: newest, former: former, mark: key.bootMark, size: try FilePath.size(of: file.number, path)
        ) { (writeCount) throws(DataProtectionError) in
            do throws(DataProtectionError) {
                // Nodes that were seen before are read again.
                try SealedFileReader(file.number, path, header: newest, cipher: key.cipher)
                    .openEverything(since: writeCount)
                return nil
            } catch {
                // A block that the disk cannot read is no sign of a crash. It may belong to the content that was made
                // durable last.
                guard error.code == .tampered || error.code == .truncated else { throw error }
                return error
            }
        }
        let version = try FileVersion(judgement, of: pair, key.bootMark, page, path)
        lease.keep(version, key, asOf: losses)
        return (version, key)
    }

    func headers(_ file: Descriptor) throws(DataProtectionError) -> (page: Data, pair: FileHeaderPair) {
        let page = try FileHeader.firstPage(of: file.number, path)
        let pair = try withFormatErrors(path) { () throws(FileFormatError) in try FileHeader.inFirstPage(page) }
        return (page, pair)
    }

    private func key(for wrapped: WrappedFileKey) throws(DataProtectionError) -> OpenFileKey {
        if let key = lease.key(of: wrapped.fileID) { return key }
        return OpenFileKey(
            try environment.keys.open(wrapped, path), fileID: wrapped.fileID, bootID: environment.bootID)
    }

    // MARK: Locks

    func withSharedLock<R: Sendable>(
        _ file: Descriptor, _ body: () throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        try turn.withLock { _ throws(DataProtectionError) in try HeaderLock.shared.during(file.number, path, body) }
    }

    /// Runs `body` while no other program or thread writes to the file.
    ///
    /// - Parameter mustWait: Whether to wait for other writers. Otherwise a writer is an error (EAGAIN or EACCES).
    func withTurn(
        mustWait: Bool = true, _ body: (Descriptor, inout WritersMemory) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        let file = try descriptor()
        guard file.mayWrite else { throw .system("write", path, errno: EBADF) }
        func locked(_ memory: inout WritersMemory) throws(DataProtectionError) {
            let lock = mustWait ? HeaderLock.exclusive : .exclusiveIfFree
            try lock.during(file.number, path) { () throws(DataProtectionError) in try body(file, &memory) }
        }
        if mustWait { return try turn.withLock { memory throws(DataProtectionError) in try locked(&memory) } }
        let isDone: Void? = try turn.withLockIfAvailable { memory throws(DataProtectionError) in try locked(&memory) }
        if isDone == nil { throw .system("lock", path, errno: EAGAIN) }
    }

    /// Runs `body` with the version that was found while no other program or thread writes.
    func hold(
        _ found: Found, _ file: Descriptor, _ memory: inout WritersMemory,
        _ body: (inout HeldFile) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        var held = HeldFile(file.number, path, environment, lease, found, memory)
        // The memory has one owner at a time, so nothing in it is copied.
        memory = WritersMemory()
        defer { memory = held.memory }
        try body(&held)
    }

    // MARK: Writing

    /// Makes one change and puts it into effect.
    private func change(
        _ access: Access = .beginning, mayRelease: Bool = false,
        _ body: (inout SealedFileChange) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try withTurn { (file, memory) throws(DataProtectionError) in
            try hold(try current(access, isLocked: true), file, &memory) { (held) throws(DataProtectionError) in
                try held.change(body)
                if mayRelease { held.noteReleased() }
            }
        }
    }

    package func write(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64?, _ access: Access = .beginning
    ) throws(DataProtectionError) -> UInt64 {
        var place: UInt64 = 0
        try change(access) { (change) throws(DataProtectionError) in
            place = offset ?? change.header.length
            guard place <= FileFormat.mostContent - UInt64(bytes.count) else {
                throw .system("write", path, errno: EFBIG)
            }
            try change.write(bytes, at: place)
        }
        return place
    }

    package func truncate(to length: UInt64) throws(DataProtectionError) {
        guard length <= FileFormat.mostContent else { throw .system("write", path, errno: EFBIG) }
        try change(mayRelease: true) { (change) throws(DataProtectionError) in try change.truncate(to: length) }
    }

    package func punch(_ range: Range<UInt64>) throws(DataProtectionError) {
        try change(mayRelease: true) { (change) throws(DataProtectionError) in try change.punch(range) }
    }

    /// Waits until the disk has everything that was written before, by any program.
    ///
    /// - Throws: `.system` with EBADF if some write was not made durable and the file is open for reading. The header
    ///   cannot be changed then, and the next write would go over the state that the disk was just given.
    package func sync() throws(DataProtectionError) {
        let file = try descriptor()
        guard file.mayWrite else {
            guard try headers(file).pair.newest.claimed.isDurable else {
                throw .system("make durable", path, errno: EBADF)
            }
            var disk = Durability.unforced
            return try disk.force(file.number, path, environment.files)
        }
        try withTurn { (file, memory) throws(DataProtectionError) in
            let known = try known(in: file)
            let isWritten = known.map { !$0.version.header.isDurable } ?? false
            let pair = try isWritten ? nil : headers(file).pair
            guard let pair, pair.newest.claimed.isDurable, !memory.disk.hasLost else {
                let found = if let known { known } else { try lookLocked(at: file) }
                try requireUse(of: found)
                return try hold(found, file, &memory) { (held) throws(DataProtectionError) in try held.settle() }
            }
            // The key is not needed, and may be locked away. A file that was written whole is marked as durable in any
            // case, and may have been written without waiting for the disk. A copy has the mark of its original.
            if !pair.newest.claimed.isChangedInPlace || pair.mayBeUnforced || memory.disk == .unforced {
                try memory.disk.force(file.number, path, environment.files)
            }
        }
    }

    // MARK: The end

    /// Closes the file. Calls in progress end as if it were open.
    package func close() {
        opened.withLock { $0 = nil }
        lease.end()
    }

    package var files: any FileSystem { environment.files }
    /// The length, if no other program has changed the file since it was last verified. It asks for no key.
    package var knownLength: UInt64? { (try? known(in: try descriptor()))?.version.header.length }
    package var isClosed: Bool { opened.withLock { $0 == nil } }
    package var mayWrite: Bool { opened.withLock { $0?.mayWrite ?? false } }
}
