internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// One protected file that is open, with the facts that were learned about it.
///
/// Readers normally wait for no other call. Writers take turns: in this process by a lock of this object, and between
/// processes by a lock of the file. Each call looks at the header, so it sees the changes that others have made.
/// docs/file-format.md explains slots, the base and boot marks.
final class SealedFile: Sendable {
    let path: String
    private let environment: Environment
    private let state: Mutex<State>
    /// The lock of writers in this process. A lock of the file belongs to the open file, so other threads would share
    /// it.
    private let turn = Condition()
    /// The generation of the process. A forked child has the descriptor of the file and not its key.
    private let forkGeneration = ForkGeneration.current
    /// The known pages. They belong to the thread that holds ``turn``.
    nonisolated(unsafe) private var pages = KnownPages()

    /// The keychain and the system that the file works with.
    struct Environment: Sendable {
        let keys: FileKeys
        let gate: LockGate
        let files: any FileSystem
        let randomness: any Randomness
        let bootID: UUID
    }

    private struct State {
        /// The open file. `nil` means that it is closed.
        var descriptor: Descriptor?
        var version: FileVersion?
        var key: OpenFileKey?
        /// Whether forcing the file to the disk has failed. The disk may lack bytes that were written.
        var hasLost = false
        /// Whether that happened with content that was found after a crash, which has no base to go back to.
        var hasLostFound = false
        /// Whether this object has waited for the disk. All earlier writes to the file are there then.
        var hasForced = false
        /// The number of calls in progress that need the key several times.
        var longCalls = 0
        /// The number of times the key was taken away. A call that asked for the key before that does not bring it
        /// back.
        var losses = 0
    }

    private struct KnownPages {
        /// The slots of the version that the map is for.
        var slots: Data?
        var map = PageMap.nothing
        mutating func takeMap() -> PageMap {
            let taken = map
            map = PageMap.nothing
            return taken
        }

        /// Whether there may be space to give back.
        ///
        /// Content was cut off or made zeros since the last sync, or not everything could be written.
        var hasReleased = false
        /// Whether the disk was full once. The file takes no more space than it has to from then on.
        var wasDiskFull = false
    }

    /// A descriptor that is closed when its last user is gone.
    final class Descriptor: Sendable {
        let number: Int32
        let mayWrite: Bool
        private let mustClose: Bool

        init(_ number: Int32, mayWrite: Bool, mustClose: Bool) {
            self.number = number
            self.mayWrite = mayWrite
            self.mustClose = mustClose
        }

        deinit { if mustClose { Glibc.close(number) } }
    }

    /// The part of a call, which decides how a lock of the keychain affects a file of class A.
    enum Access {
        /// The call begins.
        case beginning
        /// The call goes on. It may do so for ten seconds after a lock.
        case continuing
    }

    /// Makes the object for an open file.
    ///
    /// - Parameters:
    ///   - key: The file's key if it is known already, as for a file that was just made.
    init(
        _ descriptor: Descriptor, _ path: String, _ environment: Environment, key: OpenFileKey? = nil
    ) {
        self.path = path
        self.environment = environment
        state = Mutex(State(descriptor: descriptor, key: key))
    }

    private func descriptor() throws(DataProtectionError) -> Descriptor {
        guard ForkGeneration.current == forkGeneration else {
            throw DataProtectionError(
                .keysUnavailable, path, "a forked process cannot use a protected file that its parent has opened")
        }
        guard let descriptor = state.withLock({ $0.descriptor }) else { throw .system("use", path, errno: EBADF) }
        return descriptor
    }

    // MARK: The present version

    /// The file as it is now, and its key.
    ///
    /// - Throws: `.locked` for class A while the keychain is locked.
    func current(
        _ access: Access = .beginning, isLocked: Bool = false
    ) throws(DataProtectionError) -> (FileVersion, OpenFileKey) {
        let file = try descriptor()
        let found = try version(in: file, isLocked: isLocked)
        let fileClass = found.version.header.fileClass
        if access == .beginning && !environment.gate.isOpen(for: fileClass) {
            forgetKey()
            try environment.gate.require(fileClass, path)
        }
        return found
    }

    private func version(
        in file: Descriptor, isLocked: Bool
    ) throws(DataProtectionError) -> (version: FileVersion, key: OpenFileKey) {
        // The bytes reach to the end of the second slot.
        let count = FileFormat.slotOffsets[1] + FileFormat.slotByteCount
        var found: (FileVersion, OpenFileKey)?
        var result = Result<Int, DataProtectionError>.success(0)
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { page in
            do throws(DataProtectionError) {
                let read = try page.fill(from: file.number, at: 0, path)
                result = .success(read)
                found = state.withLock { state in
                    guard let version = state.version, let key = state.key,
                        version.isIn(UnsafeRawBufferPointer(rebasing: page[..<read]))
                    else { return nil }
                    return (version, key)
                }
            } catch {
                result = .failure(error)
            }
        }
        _ = try result.get()
        if let found { return found }
        return try look(at: file, isLocked: isLocked)
    }

    private func look(
        at file: Descriptor, isLocked: Bool
    ) throws(DataProtectionError) -> (version: FileVersion, key: OpenFileKey) {
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
    private func lookHastily(
        at file: Descriptor
    ) throws(DataProtectionError) -> (version: FileVersion, key: OpenFileKey)? {
        let losses = state.withLock { $0.losses }
        let (page, pair) = try headers(file)
        guard pair.areBothWhole else { return nil }
        let key = try key(for: pair.newest.claimed.key)
        guard pair.newest.claimed.isKnown(to: key.bootMark) else { return nil }
        return keep(try version(pair, page, key, file), key, asOf: losses)
    }

    private func lookLocked(
        at file: Descriptor
    ) throws(DataProtectionError) -> (version: FileVersion, key: OpenFileKey) {
        let losses = state.withLock { $0.losses }
        let (page, pair) = try headers(file)
        let key = try key(for: pair.newest.claimed.key)
        return keep(try version(pair, page, key, file), key, asOf: losses)
    }

    private func keep(
        _ version: FileVersion, _ key: OpenFileKey, asOf losses: Int
    ) -> (version: FileVersion, key: OpenFileKey) {
        state.withLock { state in
            guard state.losses == losses, state.descriptor != nil else { return }
            state.version = version
            state.key = key
        }
        return (version, key)
    }

    private func headers(_ file: Descriptor) throws(DataProtectionError) -> (page: Data, pair: FileHeaderPair) {
        let page = try firstPage(file)
        return (page, try format { () throws(FileFormatError) in try FileHeader.inFirstPage(page) })
    }

    /// Decides which of the two headers counts (docs/file-format.md, "After a crash of the system").
    private func version(
        _ pair: FileHeaderPair, _ page: Data, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        let newest = try format { () throws(FileFormatError) in try pair.newest.verified(fileKey: key.fileKey) }
        let slots = page.withUnsafeBytes { FileVersion.slots(in: $0) }
        let base = newest.isDurable ? nil : try? pair.former?.verified(fileKey: key.fileKey)
        let version = FileVersion(
            slots: slots, header: newest, slot: pair.newest.slot, base: base, highestSequence: newest.sequence,
            unfinished: pair.mayBeHalfWritten ? .header : nil)
        if newest.isKnown(to: key.bootMark) {
            try newest.requireStoredSize(of: file.number, path)
            return version
        }
        do throws(DataProtectionError) {
            try newest.requireStoredSize(of: file.number, path)
            try openEverything(version, key, file)
            return version
        } catch {
            // A block that the disk cannot read is no sign of a crash. It may belong to the content that was made
            // durable last.
            guard let base, let former = pair.former, error.code == .tampered || error.code == .truncated else {
                throw error
            }
            try base.requireStoredSize(of: file.number, path)
            // The base was made durable, even if its header does not say so.
            var header = base
            header.bootMark = FileHeader.BootMark()
            return FileVersion(
                slots: slots, header: header, slot: former.slot, base: header, highestSequence: newest.sequence,
                unfinished: .retreat)
        }
    }

    /// Opens everything that may be missing on the disk. Nodes that were seen before are read again.
    private func openEverything(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) {
        try SealedFileReader(file.number, path, header: version.header, cipher: key.cipher)
            .openEverything(since: version.base?.writeCount ?? 0)
    }

    private func firstPage(_ file: Descriptor) throws(DataProtectionError) -> Data {
        var page = Data(count: FileFormat.headerByteCount)
        let count = try page.withUnsafeMutableBytes { bytes in
            Result { () throws(DataProtectionError) in try bytes.fill(from: file.number, at: 0, path) }
        }.get()
        return page.prefix(count)
    }

    private func format<R>(_ body: () throws(FileFormatError) -> R) throws(DataProtectionError) -> R {
        do throws(FileFormatError) { return try body() } catch { throw DataProtectionError(error, path) }
    }

    private func key(for wrapped: WrappedFileKey) throws(DataProtectionError) -> OpenFileKey {
        // A change of class does not change the file's key.
        if let key = state.withLock({ $0.key }), key.fileID == wrapped.fileID { return key }
        let key = try environment.keys.ask(.open(wrapped), path)
        return OpenFileKey(
            try KeyMaterial(key.key, path), fileID: wrapped.fileID, bootID: environment.bootID)
    }

    private func reader(_ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor) -> SealedFileReader {
        SealedFileReader(file.number, path, header: version.header, cipher: key.cipher, nodes: key.nodes)
    }

    private func forgetKey() {
        state.withLock { state in
            state.key = nil
            state.version = nil
            state.losses += 1
        }
    }

    // MARK: Reading

    /// Reads from a place until the target is full or the content ends, all of it from one version of the file.
    ///
    /// - Returns: The number of bytes.
    func read(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer, _ access: Access = .beginning
    ) throws(DataProtectionError) -> Int {
        try reading(at: offset, into: target, access).count
    }

    /// Reads, and returns the length that the content had too.
    private func reading(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer, _ access: Access
    ) throws(DataProtectionError) -> (count: Int, length: UInt64) {
        // A writer may use pages again that this call is reading. After a few attempts the writer has to wait.
        for _ in 0..<Self.hastyReads {
            let (version, key) = try current(access)
            do throws(DataProtectionError) {
                return try read(version, key, at: offset, into: target)
            } catch {
                guard error.code == .tampered || error.code == .truncated,
                    try self.version(in: descriptor(), isLocked: false).version !== version
                else { throw error }
            }
        }
        return try withSharedLock(try descriptor()) { () throws(DataProtectionError) in
            let (version, key) = try current(.continuing, isLocked: true)
            return try read(version, key, at: offset, into: target)
        }
    }

    private static let hastyReads = 4

    /// Reads the whole content.
    ///
    /// - Returns: false if the content has another length by now.
    func readAll(into target: UnsafeMutableRawBufferPointer) throws(DataProtectionError) -> Bool {
        let (count, length) = try reading(at: 0, into: target, .continuing)
        return count == target.count && length == UInt64(count)
    }

    private func read(
        _ version: FileVersion, _ key: OpenFileKey, at offset: UInt64, into target: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> (count: Int, length: UInt64) {
        let length = version.header.length
        guard offset < length else { return (0, length) }
        let count = Int(min(UInt64(target.count), length - offset))
        try reader(version, key, try descriptor()).read(
            offset..<(offset + UInt64(count)), into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]))
        return (count, length)
    }

    // MARK: Locks

    private func withSharedLock<R>(
        _ file: Descriptor, _ body: () throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        turn.lock()
        defer { turn.unlock() }
        let failure = ckeychain_await_shared_lock(file.number, Int64(FileFormat.headerByteCount))
        guard failure == 0 else { throw .system("lock", path, errno: failure) }
        defer { _ = ckeychain_unlock(file.number, Int64(FileFormat.headerByteCount)) }
        return try body()
    }

    /// Runs `body` while no other program or thread writes to the file.
    ///
    /// - Parameter mustWait: Whether to wait for other writers. Otherwise a writer is an error (EAGAIN or EACCES).
    private func withTurn<R>(
        mustWait: Bool = true, _ body: (Descriptor) throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        let file = try descriptor()
        guard file.mayWrite else { throw .system("write", path, errno: EBADF) }
        if mustWait {
            turn.lock()
        } else if !turn.tryLock() {
            throw .system("lock", path, errno: EAGAIN)
        }
        defer { turn.unlock() }
        let count = Int64(FileFormat.headerByteCount)
        let failure = mustWait ? ckeychain_await_lock(file.number, count) : ckeychain_try_lock(file.number, count)
        guard failure == 0 else { throw .system("lock", path, errno: failure) }
        defer { _ = ckeychain_unlock(file.number, count) }
        return try body(file)
    }

    // MARK: Writing

    /// Makes one change and puts it into effect.
    func change(
        _ access: Access = .beginning, _ body: (inout SealedFileChange) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try withTurn { (file) throws(DataProtectionError) in
            let (present, key) = try current(access, isLocked: true)
            let markable = try markChanged(try adopt(present, key, file), key, file)
            do throws(DataProtectionError) {
                try commit(body, markable, key, file)
            } catch {
                guard error.errno == ENOSPC || error.errno == EDQUOT else { throw error }
                pages.hasReleased = true
                // Pages that only the base uses become free with the next base. Other free pages are found by
                // searching.
                guard !markable.header.isDurable || !pages.wasDiskFull else { throw error }
                pages.wasDiskFull = true
                let refusal = error
                do throws(DataProtectionError) {
                    try commit(body, try settle(markable, key, file), key, file)
                } catch {
                    throw refusal
                }
            }
        }
    }

    /// Prepares the file for a write, after a crash of the system or of another program.
    ///
    /// - Content that was found after a crash of the system is made durable before its header is written over. The base
    ///   that the write would leave is older than the last durable state, and its pages may have been used again.
    /// - The header of a program that died while it replaced headers is forced to the disk.
    /// - A header that does not count is written over. It might count again when the file has grown, if this program
    ///   dies then.
    private func adopt(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        let (hasLost, hasLostFound) = state.withLock { ($0.hasLost, $0.hasLostFound) }
        if hasLost {
            // The disk has refused earlier writes. A later write cannot make that worse as long as there is a base.
            guard !hasLostFound, version.base != nil, version.unfinished != .retreat else { throw lost() }
            return version
        }
        // The only header must not be replaced by one whose content may be missing on the disk.
        guard version.header.isKnown(to: key.bootMark), version.base != nil, version.unfinished != .retreat else {
            return try settle(version, key, file)
        }
        guard version.unfinished == .header else { return version }
        try force(file)
        let whole = version.whole
        keep(whole, after: version)
        return whole
    }

    private func commit(
        _ body: (inout SealedFileChange) throws(DataProtectionError) -> Void, _ version: FileVersion,
        _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) {
        try learnPages(of: version, key, file)
        // The map is handed over and not copied, so a change that fails leaves no map. On a full disk many changes
        // fail, and the map is kept.
        let known = pages.wasDiskFull ? pages : KnownPages()
        pages.slots = nil
        var change = SealedFileChange(
            file.number, path, version, key, pages.takeMap(), mayGrow: !pages.wasDiskFull, bootMark: bootMark(key),
            files: environment.files, randomness: environment.randomness)
        do throws(DataProtectionError) {
            try body(&change)
            let (new, map) = try change.commit(version)
            keep(new, map)
        } catch {
            (pages.slots, pages.map) = (known.slots, known.map)
            throw error
        }
    }

    private func keep(_ version: FileVersion, _ map: PageMap) {
        pages.map = map
        pages.slots = version.slots
        state.withLock { $0.version = version }
    }

    /// Keeps a version whose header changes only facts about itself, not the pages in use.
    private func keep(_ version: FileVersion, after former: FileVersion) {
        if pages.slots == former.slots { pages.slots = version.slots }
        state.withLock { $0.version = version }
    }

    /// Marks the header, once in the life of a file: from now on the file may have bytes behind its end.
    private func markChanged(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        if version.header.isChangedInPlace { return version }
        var header = version.header
        header.isChangedInPlace = true
        return try forceOver(version, header, key, file)
    }

    /// Writes a durable header over the slot that is not in use, and forces it to the disk. Its content is that of the
    /// present one.
    private func forceOver(
        _ version: FileVersion, _ header: FileHeader, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        var header = header
        header.sequence = version.highestSequence + 1
        let new = try SealedFileChange.write(
            header, version.nextSlot, of: version, key, to: file.number, path, environment.files)
        try force(file)
        keep(new, after: version)
        return new
    }

    /// Finds out which pages are free, if too many are unknown.
    private func learnPages(
        of version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) {
        if pages.slots != version.slots {
            // Another program has written to the file, or this is the first time.
            let end = max(version.header.storedSize, version.base?.storedSize ?? 0).pageCount
            pages.map = PageMap(end: end)
            pages.slots = version.slots
        }
        let unused = pages.map.end - 1 - min(pages.map.end - 1, version.header.usedPages)
        if !pages.map.isComplete
            && (pages.wasDiskFull || unused > max(UInt64(PageMap.fewPages), version.header.usedPages / 4))
        {
            pages.map = try readPages(of: version, key, file)
        }
    }

    private func readPages(
        of version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> PageMap {
        var used = PageSet()
        try reader(version, key, file).forEachEntry { used.insert($0.run) }
        var waiting: [PageMap.Run] = []
        if let base = version.base, base != version.header {
            let former = SealedFileReader(file.number, path, header: base, cipher: key.cipher)
            try former.forEachEntry { entry in
                if !used.contains(entry.page) { waiting.append(entry.run) }
            }
        }
        for run in waiting { used.insert(run) }
        return PageMap(used: used, waiting: waiting)
    }

    func write(
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

    func truncate(to length: UInt64) throws(DataProtectionError) {
        guard length <= FileFormat.mostContent else { throw .system("write", path, errno: EFBIG) }
        try change { (change) throws(DataProtectionError) in try change.truncate(to: length) }
        turn.withLock { pages.hasReleased = true }
    }

    func punch(_ range: Range<UInt64>) throws(DataProtectionError) {
        try change { (change) throws(DataProtectionError) in try change.punch(range) }
        turn.withLock { pages.hasReleased = true }
    }

    // MARK: Making durable

    /// Waits until the disk has everything that was written before, by any program.
    ///
    /// - Throws: `.system` with EBADF if some write was not made durable and the file is open for reading. The header
    ///   cannot be changed then, and the next write would go over the state that the disk was just given.
    func sync() throws(DataProtectionError) {
        let file = try descriptor()
        guard file.mayWrite else {
            guard try headers(file).pair.newest.claimed.isDurable else {
                throw .system("make durable", path, errno: EBADF)
            }
            return try force(file)
        }
        try withTurn { (file) throws(DataProtectionError) in
            guard let (version, key) = try presentVersion(file) else { return }
            _ = try settle(version, key, file)
        }
    }

    /// The version that has to be made durable.
    ///
    /// - Returns: `nil` if there is no such version, which can be seen even while the keychain is locked.
    private func presentVersion(_ file: Descriptor) throws(DataProtectionError) -> (FileVersion, OpenFileKey)? {
        let pair = try headers(file).pair
        let claimed = pair.newest.claimed
        let (hasLost, hasForced) = state.withLock { ($0.hasLost, $0.hasForced) }
        guard claimed.isDurable && !hasLost else { return try current(isLocked: true) }
        // A file that was written whole is marked as durable in any case, and may have been written without waiting for
        // the disk. A copy has the mark of its original.
        if !claimed.isChangedInPlace || pair.mayBeHalfWritten || !hasForced { try force(file) }
        return nil
    }

    private func force(_ file: Descriptor) throws(DataProtectionError) {
        guard environment.files.syncData(file.number) != 0 else { return state.withLock { $0.hasForced = true } }
        // The system drops a write that failed, and would report success at the next attempt.
        state.withLock { $0.hasLost = true }
        throw .system("be sure that the disk has what was written to", path)
    }

    /// Forces everything to the disk, and makes the present header the base.
    private func settle(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        if state.withLock({ $0.hasLost }) { throw lost() }
        if version.unfinished == .retreat { return try forceOver(version, version.header, key, file) }
        if version.header.isDurable { return version }
        // The system takes an earlier write that failed for written, so everything is written again. If that fails too,
        // the header keeps its mark, which is not that of this start of the system. The next writer begins here as
        // well.
        let isFound = !version.header.isKnown(to: key.bootMark)
        if isFound { try writeAgain(version, key, file) }
        do throws(DataProtectionError) {
            try force(file)
        } catch {
            if isFound { state.withLock { $0.hasLostFound = true } }
            markLost(version, key, file)
            throw error
        }
        var header = version.header
        header.bootMark = FileHeader.BootMark()
        header.sequence = version.highestSequence + 1
        let new = try SealedFileChange.write(
            header, version.slot, of: version, key, to: file.number, path, environment.files)
        if pages.slots == version.slots { pages.map.forgetBase() }
        keep(new, after: version)
        return pages.hasReleased ? try release(new, key, file) : new
    }

    /// Gives the system everything once more that the base does not have.
    private func writeAgain(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) {
        do throws(DataProtectionError) {
            // The system may have dropped bytes that the disk had refused.
            try openEverything(version, key, file)
        } catch {
            // The next call finds out which header counts now.
            state.withLock { $0.version = nil }
            throw error
        }
        let buffer = ContentBuffer.spare(count: Int(version.header.tree.chunkSize))
        buffer.isSecret = false
        try reader(version, key, file).forEachEntry(since: version.base?.writeCount ?? 0) {
            (entry) throws(DataProtectionError) in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<Int(entry.length)])
            guard try bytes.fill(from: file.number, at: entry.offset, path) == bytes.count else {
                throw DataProtectionError(.truncated, path, "the file was cut short while it was open")
            }
            try environment.files.writeAll(UnsafeRawBufferPointer(bytes), to: file.number, at: entry.offset, path)
        }
    }

    /// The mark of the headers that this object writes.
    private func bootMark(_ key: OpenFileKey) -> FileHeader.BootMark {
        guard state.withLock({ $0.hasLost }) else { return key.bootMark }
        // No start of the system has this number.
        let none = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        return FileHeader.bootMark(of: none, fileKey: key.fileKey, fileID: key.fileID)
    }

    /// Tells every other program, as far as that can be written, that the content of the header may be missing on the
    /// disk.
    private func markLost(_ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor) {
        var header = version.header
        header.bootMark = bootMark(key)
        header.sequence = version.highestSequence + 1
        // A disk that refuses this header has no later bytes either.
        let result = Result { () throws(DataProtectionError) in
            try SealedFileChange.write(
                header, version.slot, of: version, key, to: file.number, path, environment.files)
        }
        if case .success(let new) = result { keep(new, after: version) }
    }

    private func lost() -> DataProtectionError {
        DataProtectionError(
            .system, path, "the disk has refused an earlier write, which may be lost: open the file anew", errno: EIO)
    }

    /// Gives unused pages back to the disk: those at the end, and long runs.
    ///
    /// - Returns: The file afterwards.
    private func release(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        pages.hasReleased = false
        let map = try readPages(of: version, key, file)
        let size = UInt64(FileFormat.pageSize)
        for run in map.freeRuns(ofAtLeast: Self.worthPunching) {
            // Some file systems cannot do this, and it is not needed.
            _ = environment.files.punch(file.number, at: Int(run.page * size), count: run.count * Int(size))
        }
        var new = version
        if map.end * size < version.header.storedSize {
            var header = version.header
            header.storedSize = map.end * size
            // The header is shortened first, and the file only when the disk has that header.
            new = try forceOver(version, header, key, file)
        }
        let (needed, present) = (new.header.storedSize, try FilePath.size(of: file.number, path))
        if present > needed && environment.files.truncate(file.number, to: Int(needed)) != 0 {
            throw .system("write", path)
        }
        keep(new, map)
        return new
    }

    /// The number of pages in a run that is worth giving back: 256 KiB.
    private static let worthPunching = 64

    // MARK: The wrapped key

    /// Wraps the file's key for another class.
    ///
    /// - Parameter isStillRight: Called when no other program can change the file any more.
    func setClass(
        _ fileClass: FileClass, isStillRight: () throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try rewrap(isStillRight: isStillRight) { (header) throws(DataProtectionError) in
            try environment.keys.ask(.rewrap(header.key, fileClass), path).wrapped
        }
    }

    /// Puts the file's key into the header in another wrapping.
    ///
    /// No program writes meanwhile, and everything that was written is on the disk before.
    ///
    /// - Parameters:
    ///   - isStillRight: Called when no other program can change the file any more.
    ///   - wrap: Called with the present header.
    func rewrap(
        _ access: Access = .beginning, isStillRight: () throws(DataProtectionError) -> Void,
        _ wrap: (FileHeader) throws(DataProtectionError) -> WrappedFileKey
    ) throws(DataProtectionError) {
        try withTurn { (file) throws(DataProtectionError) in
            try isStillRight()
            let (present, key) = try current(access, isLocked: true)
            let version = try settle(present, key, file)
            var header = version.header
            header.key = try wrap(version.header)
            header.sequence = version.highestSequence + 1
            var new = version
            // The slot in use comes last, so that one slot is intact at any moment. Both are written, so that no other
            // wrapping stays.
            for slot in [1 - version.slot, version.slot] {
                new = try SealedFileChange.write(
                    header, slot, of: new, key, to: file.number, path, environment.files)
                try force(file)
            }
            keep(new, after: version)
        }
    }

    // MARK: The end

    /// Runs a call that needs the key several times. A lock of the keychain leaves it the key for the time of the
    /// grace.
    func duringLongCall<R>(_ body: () throws(DataProtectionError) -> R) throws(DataProtectionError) -> R {
        state.withLock { $0.longCalls += 1 }
        defer { state.withLock { $0.longCalls -= 1 } }
        return try body()
    }

    /// The ways of taking a key away.
    enum KeyLoss {
        /// The key stays with a file that has calls in progress, or content that is not on the disk.
        case ifIdle
        /// The key stays with a file that has calls in progress.
        ///
        /// Content that is not on the disk is made durable first, unless another program keeps the file locked.
        case unlessUsed
        /// The key is taken away in any case.
        case certain
    }

    /// Takes the key away from a file of class A because the keychain was locked. It waits for no other program.
    ///
    /// - Returns: false if the file still has its key.
    func dropKey(_ loss: KeyLoss) -> Bool {
        // The header is not verified here, since verifying it may mean waiting. A program that can change the file can
        // do more harm than this.
        let claimed = (try? descriptor()).flatMap { try? headers($0).pair.newest.claimed }
        let known = state.withLock { $0.version?.header.fileClass }
        guard claimed?.fileClass.closesWithLock ?? true || known?.closesWithLock ?? false else { return true }
        if loss == .certain {
            forgetKey()
            return true
        }
        if state.withLock({ $0.longCalls > 0 }) { return false }
        if mayWrite, let claimed, !claimed.isDurable, hasKey {
            guard loss == .unlessUsed else { return false }
            do throws(DataProtectionError) {
                try withTurn(mustWait: false) { (file) throws(DataProtectionError) in
                    let (version, key) = try lookLocked(at: file)
                    _ = try settle(version, key, file)
                }
            } catch {
                // If another program writes at this moment, the call is repeated later. If the disk refuses, sync()
                // reports it after the unlock, since the header does not claim to be durable.
                if [EAGAIN, EACCES].contains(error.errno) { return false }
            }
        }
        forgetKey()
        return true
    }

    /// Closes the file. Calls in progress end as if it were open.
    func close() {
        state.withLock { state in
            state.descriptor = nil
            state.version = nil
            state.key = nil
        }
    }

    var hasKey: Bool { state.withLock { $0.key != nil } }
    var files: any FileSystem { environment.files }
    var isClosed: Bool { state.withLock { $0.descriptor == nil } }
    var mayWrite: Bool { state.withLock { $0.descriptor?.mayWrite ?? false } }
}
