internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// One protected file that is open, with what has been learned about it.
///
/// Whoever reads waits for nobody. Those who write take turns, in this process by a lock of this object, with others by
/// one of the file. What others have written is seen with the next call: each looks at the header.
final class SealedFile: Sendable {
    let path: String
    private let environment: Environment
    private let state: Mutex<State>
    /// Held by the one thread that writes, or has the file locked in another way: such a lock belongs to the open file,
    /// and would be another thread's, too.
    private let turn = NSLock()
    /// A child that is forked later has the number of the file, and not its key.
    private let forkGeneration = ForkGeneration.current
    /// Belongs to whose turn it is.
    nonisolated(unsafe) private var pages = KnownPages()

    /// Where the file is, and what there is to work with.
    struct Environment: Sendable {
        let keys: FileKeys
        let gate: LockGate
        let files: any FileSystem
        let randomness: any Randomness
        let bootID: UUID
    }

    private struct State {
        /// nil: closed.
        var descriptor: Descriptor?
        var version: FileVersion?
        var key: OpenFileKey?
        /// What sync(2) has said since: the content may not be what was written.
        var hasLost = false
        /// So it was with what was found after a crash: behind it is no base to go back to.
        var hasLostFound = false
        /// The disk was waited for by this object: whatever was done to the file before is there.
        var hasForced = false
        /// Calls in progress that come back for the key.
        var longCalls = 0
        /// How often the key was taken away: a call that asked for it before does not bring it back.
        var losses = 0
    }

    private struct KnownPages {
        /// Of the version with these slots.
        var slots: Data?
        var map = PageMap.nothing
        mutating func takeMap() -> PageMap {
            let taken = map
            map = PageMap.nothing
            return taken
        }

        /// Content was cut off or made zeros since the last sync, or not all could be written: there may be space to give
        /// back.
        var hasReleased = false
        /// The disk was full once: from then on the file takes no more of it than it has to.
        var wasDiskFull = false
    }

    /// Closed when nobody uses it any more.
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

    /// How a class A file stands to the lock of the keychain during a call.
    enum Access {
        /// The call begins.
        case beginning
        /// It goes on, for ten seconds at most after a lock.
        case continuing
    }

    /// - Parameters:
    ///   - key: If it is known already, as that of a file that was made just now.
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
        if access == .beginning && found.version.header.fileClass == .complete && !environment.gate.isOpen() {
            forgetKey()
            try environment.gate.require(path)
        }
        return found
    }

    private func version(
        in file: Descriptor, isLocked: Bool
    ) throws(DataProtectionError) -> (version: FileVersion, key: OpenFileKey) {
        // Up to the end of the second slot.
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
            // What another program writes at this moment may seem to be.
            guard error.code == .tampered || error.code == .truncated else { throw error }
        }
        return try withSharedLock(file) { () throws(DataProtectionError) in try lookLocked(at: file) }
    }

    /// nil if it has to be looked at while nobody writes: a slot may be being written at this moment, and what has to be
    /// looked through must stay as it is for that long.
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

    /// Which of the two headers counts (docs/file-format.md, "After a crash of the system").
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
            // A block that the disk does not read is no crash: what it has may be what was made durable last.
            guard let base, let former = pair.former, error.code == .tampered || error.code == .truncated else {
                throw error
            }
            try base.requireStoredSize(of: file.number, path)
            // It was made durable, whether it came to saying so or not.
            var header = base
            header.bootMark = FileHeader.BootMark()
            return FileVersion(
                slots: slots, header: header, slot: former.slot, base: header, highestSequence: newest.sequence,
                unfinished: .retreat)
        }
    }

    /// Looks at all that the disk need not have, and takes nothing for granted that was seen before.
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
        // Changing the class leaves it as it is.
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

    /// Reads from a place until the target is full or the content ends, all of it from the same version.
    ///
    /// - Returns: how many bytes there were.
    func read(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer, _ access: Access = .beginning
    ) throws(DataProtectionError) -> Int {
        try reading(at: offset, into: target, access).count
    }

    /// The same, with the length that the content had.
    private func reading(
        at offset: UInt64, into target: UnsafeMutableRawBufferPointer, _ access: Access
    ) throws(DataProtectionError) -> (count: Int, length: UInt64) {
        // Whoever writes may use pages again that this reads; in the end it must be kept from that.
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
    /// - Returns: false if its length is another one now.
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

    /// Runs `body` while nobody else writes to the file.
    ///
    /// - Parameter mustWait: Otherwise EAGAIN or EACCES if somebody does.
    private func withTurn<R>(
        mustWait: Bool = true, _ body: (Descriptor) throws(DataProtectionError) -> R
    ) throws(DataProtectionError) -> R {
        let file = try descriptor()
        guard file.mayWrite else { throw .system("write", path, errno: EBADF) }
        if mustWait {
            turn.lock()
        } else if !turn.try() {
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

    /// Runs one change and makes it count.
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
                // What the base alone uses can be had by making another one, and what is free anywhere by looking for it.
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

    /// Makes durable what was found after a crash of the system, before something is written over its header: the base
    /// that it would leave is older than what was once made durable, and its pages may have been used again. So is what a
    /// program has left that died while it replaced headers. And what does not count after a crash is written over first:
    /// it might count again when the file has grown, if this program dies then.
    private func adopt(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        let (hasLost, hasLostFound) = state.withLock { ($0.hasLost, $0.hasLostFound) }
        if hasLost {
            // What the disk has refused already stays what it is, and what is written after it, too, if there is a base.
            guard !hasLostFound, version.base != nil, version.unfinished != .retreat else { throw lost() }
            return version
        }
        // Nor may the only header there is be written over by one that the disk need not have.
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
        // Handed over, and not copied: if the change fails it is not known any more. On a full disk many will.
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

    /// The same with a header that changes nothing of what is in use.
    private func keep(_ version: FileVersion, after former: FileVersion) {
        if pages.slots == former.slots { pages.slots = version.slots }
        state.withLock { $0.version = version }
    }

    /// Says in the header, once in the life of a file, that it may have bytes behind its end from now on.
    private func markChanged(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        if version.header.isChangedInPlace { return version }
        var header = version.header
        header.isChangedInPlace = true
        return try forceOver(version, header, key, file)
    }

    /// Forces to the disk a durable header that goes over the slot which is not in use, and says the same of the content.
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

    /// Finds out which pages can be written, if too many are not known to be.
    private func learnPages(
        of version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) {
        if pages.slots != version.slots {
            // Another program has written, or this is the first time.
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

    // MARK: Being sure of it

    /// Returns when the disk has everything that was written before, by whatever program.
    ///
    /// - Throws: `.system` with EBADF if something was not made durable, and the file is open for reading alone: the
    ///   header cannot say so then, and what comes next would be written over what the disk was given.
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

    /// nil if nothing has to be made durable, which can be seen also while the keychain is locked.
    private func presentVersion(_ file: Descriptor) throws(DataProtectionError) -> (FileVersion, OpenFileKey)? {
        let pair = try headers(file).pair
        let claimed = pair.newest.claimed
        let (hasLost, hasForced) = state.withLock { ($0.hasLost, $0.hasForced) }
        guard claimed.isDurable && !hasLost else { return try current(isLocked: true) }
        // A file that was written whole says so in any case, and may have been written without waiting for the disk; one
        // that was copied says so of what it is a copy of.
        if !claimed.isChangedInPlace || pair.mayBeHalfWritten || !hasForced { try force(file) }
        return nil
    }

    private func force(_ file: Descriptor) throws(DataProtectionError) {
        guard environment.files.syncData(file.number) != 0 else { return state.withLock { $0.hasForced = true } }
        // The system has given up what it could not write, and would say of the next attempt that it went well.
        state.withLock { $0.hasLost = true }
        throw .system("be sure that the disk has what was written to", path)
    }

    /// Forces everything to the disk, and makes the header in use the base.
    private func settle(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        if state.withLock({ $0.hasLost }) { throw lost() }
        if version.unfinished == .retreat { return try forceOver(version, version.header, key, file) }
        if version.header.isDurable { return version }
        // What an earlier attempt could not write the system takes for written. If that fails again the header keeps its
        // mark, which is not that of this system: the next one to write begins here, too.
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

    /// Hands everything to the system once more that the base does not have.
    private func writeAgain(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) {
        do throws(DataProtectionError) {
            // The system may have dropped since what the disk had refused.
            try openEverything(version, key, file)
        } catch {
            // The next look finds out what counts now.
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

    /// The mark of headers that this object writes.
    private func bootMark(_ key: OpenFileKey) -> FileHeader.BootMark {
        guard state.withLock({ $0.hasLost }) else { return key.bootMark }
        // Of no start of the system.
        let none = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        return FileHeader.bootMark(of: none, fileKey: key.fileKey, fileID: key.fileID)
    }

    /// Tells every other program that the system does not have what the header refers to, as far as that can be written.
    private func markLost(_ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor) {
        var header = version.header
        header.bootMark = bootMark(key)
        header.sequence = version.highestSequence + 1
        // A disk that does not take this either has nothing of what comes later.
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

    /// Gives pages back to the disk that nothing uses: at the end, and long runs of them.
    ///
    /// - Returns: the file as it is then.
    private func release(
        _ version: FileVersion, _ key: OpenFileKey, _ file: Descriptor
    ) throws(DataProtectionError) -> FileVersion {
        pages.hasReleased = false
        let map = try readPages(of: version, key, file)
        let size = UInt64(FileFormat.pageSize)
        for run in map.freeRuns(ofAtLeast: Self.worthPunching) {
            // Some file systems cannot, and nothing depends on it.
            _ = environment.files.punch(file.number, at: Int(run.page * size), count: run.count * Int(size))
        }
        var new = version
        if map.end * size < version.header.storedSize {
            var header = version.header
            header.storedSize = map.end * size
            // First that nothing is needed behind it, and only when the disk knows, the end itself.
            new = try forceOver(version, header, key, file)
        }
        let (needed, present) = (new.header.storedSize, try FilePath.size(of: file.number, path))
        if present > needed && environment.files.truncate(file.number, to: Int(needed)) != 0 {
            throw .system("write", path)
        }
        keep(new, map)
        return new
    }

    /// 256 KiB.
    private static let worthPunching = 64

    // MARK: The wrapped key

    /// Wraps the file's key for another class.
    ///
    /// - Parameter isStillRight: Asked when nobody else can change it any more.
    func setClass(
        _ fileClass: FileClass, isStillRight: () throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try rewrap(isStillRight: isStillRight) { (header) throws(DataProtectionError) in
            try environment.keys.ask(.rewrap(header.key, fileClass), path).wrapped
        }
    }

    /// Puts the file's key into the header in another wrapping. Nobody writes meanwhile, and all that was written is on
    /// the disk before.
    ///
    /// - Parameters:
    ///   - isStillRight: Asked when nobody else can change it any more.
    ///   - wrap: Is given the header in use.
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
            // The one in use last, so that one is whole at any moment; and both, so that no other wrapping stays.
            for slot in [1 - version.slot, version.slot] {
                new = try SealedFileChange.write(
                    header, slot, of: new, key, to: file.number, path, environment.files)
                try force(file)
            }
            keep(new, after: version)
        }
    }

    // MARK: The end

    /// Runs a call that goes on for a while: a lock of the keychain leaves it the key for as long as the grace.
    func duringLongCall<R>(_ body: () throws(DataProtectionError) -> R) throws(DataProtectionError) -> R {
        state.withLock { $0.longCalls += 1 }
        defer { state.withLock { $0.longCalls -= 1 } }
        return try body()
    }

    /// How a key is taken away.
    enum KeyLoss {
        /// Not from a file with calls in progress, or with content that is not on the disk.
        case ifIdle
        /// Also from one with such content, which is made durable before, if no other program keeps the file locked.
        case unlessUsed
        case certain
    }

    /// Takes the key away from a file of class A, because the keychain was locked. Waits for nobody.
    ///
    /// - Returns: false if the file has it still.
    func dropKey(_ loss: KeyLoss) -> Bool {
        // As the header says, which nobody has vouched for: to look closer may mean to wait. Whoever can write the file
        // can take more from it than a key.
        let claimed = (try? descriptor()).flatMap { try? headers($0).pair.newest.claimed }
        let known = state.withLock { $0.version?.header.fileClass }
        guard claimed == nil || claimed?.fileClass == .complete || known == .complete else { return true }
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
                // Another program writes at this moment, and this is tried again. If the disk refuses, sync() says so
                // after the unlock: the header does not claim it.
                if [EAGAIN, EACCES].contains(error.errno) { return false }
            }
        }
        forgetKey()
        return true
    }

    /// Nothing can be done with it from now on. Calls in progress end as if it were open.
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
