internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// A protected file while this thread has its writers' lock: changes in place, and what makes them durable.
///
/// docs/file-format.md, "Changing a file in place", has the steps. ``FileVersion/Standing`` and ``Durability`` have
/// the states.
struct HeldFile {
    private let file: Int32
    private let path: String
    private let environment: SealedFile.Environment
    private let lease: KeyLease
    private let key: OpenFileKey
    /// The file as it is now.
    private(set) var version: FileVersion
    private(set) var memory: WritersMemory

    init(
        _ file: Int32, _ path: String, _ environment: SealedFile.Environment, _ lease: KeyLease,
        _ found: (version: FileVersion, key: OpenFileKey), _ memory: WritersMemory
    ) {
        self.file = file
        self.path = path
        self.environment = environment
        self.lease = lease
        (version, key) = found
        self.memory = memory
    }

    private var writer: HeaderWriter {
        HeaderWriter(file: file, path: path, fileKey: key.fileKey, files: environment.files)
    }
    private var reader: SealedFileReader {
        SealedFileReader(file, path, header: version.header, cipher: key.cipher, nodes: key.nodes)
    }

    private mutating func force() throws(DataProtectionError) {
        try memory.disk.force(file, path, environment.files)
    }

    /// Goes on with a version whose header changes only facts about itself, not the pages in use.
    private mutating func keep(_ new: FileVersion) {
        memory.pages.follow(new, from: version)
        version = new
        lease.keep(new)
    }

    // MARK: A change

    /// Makes one change and puts it into effect.
    mutating func change(
        _ body: (inout SealedFileChange) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try adopt()
        if !version.header.isChangedInPlace {
            // Once in the life of a file: from now on it may have bytes behind its end.
            var header = version.header
            header.isChangedInPlace = true
            try forceOver(header)
        }
        do throws(DataProtectionError) {
            try commit(body)
        } catch {
            guard error.errno == ENOSPC || error.errno == EDQUOT else { throw error }
            memory.pages.mayGiveBack = true
            // Pages that only the base uses become free with the next base. Other free pages are found by searching.
            guard !version.header.isDurable || !memory.pages.isDiskFull else { throw error }
            memory.pages.isDiskFull = true
            let refusal = error
            do throws(DataProtectionError) {
                try settle()
                try commit(body)
            } catch {
                throw refusal
            }
        }
    }

    /// Remembers that a change has left space that can be given back.
    mutating func noteReleased() { memory.pages.mayGiveBack = true }

    /// Prepares the file for a write, after a crash of the system or of another program.
    ///
    /// - Content that was found after a crash of the system is made durable before its header is written over. The base
    ///   that the write would leave is older than the last durable state, and its pages may have been used again.
    /// - The header of a program that died while it replaced headers is forced to the disk.
    /// - A header that does not count is written over. It might count again when the file has grown, if this program
    ///   dies then.
    private mutating func adopt() throws(DataProtectionError) {
        switch (version.standing, memory.disk) {
        case (.written(base: nil), .lost), (.found(base: nil), .lost), (.retreat, .lost), (_, .nothingToGoBackTo):
            throw Durability.lost(path)
        // The disk has refused earlier writes. A later write cannot make that worse as long as there is a base.
        case (_, .lost), (.durable, _), (.written(base: .some), _): return
        // The only header must not be replaced by one whose content may be missing on the disk.
        case (.written(base: nil), _), (.found, _), (.retreat, _): try settle()
        case (.unforced, _):
            try force()
            keep(version.forced)
        }
    }

    private mutating func commit(
        _ body: (inout SealedFileChange) throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try learnPages()
        // The map is handed over and not copied, so a change that fails leaves no map. On a full disk many changes
        // fail, and the map is kept.
        let isFull = memory.pages.isDiskFull
        let known = isFull ? memory.pages : nil
        var change = SealedFileChange(
            file, path, version, key, memory.pages.take(), mayGrow: !isFull, bootMark: memory.disk.bootMark(key),
            files: environment.files, randomness: environment.randomness)
        do throws(DataProtectionError) {
            try body(&change)
            let (new, map) = try change.commit(version)
            know(map, new)
        } catch {
            if let known { memory.pages = known }
            throw error
        }
    }

    private mutating func know(_ map: PageMap, _ new: FileVersion) {
        memory.pages.know(map, new)
        version = new
        lease.keep(new)
    }

    /// Finds out which pages are free, if too many are unknown.
    private mutating func learnPages() throws(DataProtectionError) {
        memory.pages.begin(version, reader, key.mappedNodes)
        if memory.pages.isSearchWorthwhile(version) { memory.pages.know(try searchPages(), version) }
    }

    private func searchPages() throws(DataProtectionError) -> PageMap {
        var used = PageSet()
        try reader.forEachEntry { used.insert($0.run) }
        key.mappedNodes.copy(key.nodes)
        var waiting: [PageMap.Run] = []
        if let base = version.base, base != version.header {
            try reader.of(base).forEachEntry { entry in
                if !used.contains(entry.page) { waiting.append(entry.run) }
            }
        }
        for run in waiting { used.insert(run) }
        return PageMap(used: used, waiting: waiting)
    }

    // MARK: Making durable

    /// Forces everything to the disk, and makes the present header the base.
    mutating func settle() throws(DataProtectionError) {
        if memory.disk.hasLost { throw Durability.lost(path) }
        switch version.standing {
        case .durable, .unforced: return
        case .retreat: return try forceOver(version.header)
        case .written: try forceContent(else: .lost)
        case .found:
            // The system takes an earlier write that failed for written, so everything is written again. If that fails
            // too, the header keeps its mark, which is not that of this start of the system. The next writer begins
            // here as well.
            try writeAgain()
            try forceContent(else: .nothingToGoBackTo)
        }
        var header = version.header
        header.bootMark = FileHeader.BootMark()
        let new = try version.writing(header, over: version.slot, writer)
        memory.pages.forgetBase(version)
        keep(new)
        if memory.pages.mayGiveBack { try release() }
    }

    private mutating func forceContent(else state: Durability) throws(DataProtectionError) {
        do throws(DataProtectionError) {
            try force()
        } catch {
            memory.disk = state
            // Every other program learns, as far as that can be written, that content of the header may be missing on
            // the disk. A disk that refuses this header has no later bytes either.
            var header = version.header
            header.bootMark = state.bootMark(key)
            if let new = try? version.writing(header, over: version.slot, writer) { keep(new) }
            throw error
        }
    }

    /// Writes a durable header over the slot that is not in use, and forces it to the disk. Its content is that of the
    /// present one.
    private mutating func forceOver(_ header: FileHeader) throws(DataProtectionError) {
        let new = try version.writing(header, over: version.nextSlot, writer)
        try force()
        keep(new)
    }

    /// Gives the system everything once more that the base does not have.
    private func writeAgain() throws(DataProtectionError) {
        let since = version.base?.writeCount ?? 0
        do throws(DataProtectionError) {
            // The system may have dropped bytes that the disk had refused. Nodes that were seen before are read again.
            try SealedFileReader(file, path, header: version.header, cipher: key.cipher).openEverything(since: since)
        } catch {
            // The next call finds out which header counts now.
            lease.keep(nil)
            throw error
        }
        let buffer = ContentBuffer.spare(count: Int(version.header.tree.chunkSize))
        buffer.isSecret = false
        try reader.forEachEntry(since: since) { (entry) throws(DataProtectionError) in
            let bytes = buffer.bytes.extracting(..<Int(entry.length))
            guard try bytes.fill(from: file, at: entry.offset, path) == bytes.count else {
                throw DataProtectionError(.truncated, path, "the file was cut short while it was open")
            }
            try environment.files.writeAll(UnsafeRawBufferPointer(bytes), to: file, at: entry.offset, path)
        }
    }

    /// Gives unused pages back to the disk: those at the end, and long runs.
    private mutating func release() throws(DataProtectionError) {
        memory.pages.mayGiveBack = false
        let map = try searchPages()
        let size = UInt64(FileFormat.pageSize)
        for run in map.freeRuns(ofAtLeast: Self.worthPunching) {
            // Some file systems cannot do this, and it is not needed.
            _ = environment.files.punch(file, at: Int(run.page * size), count: run.count * Int(size))
        }
        if map.end * size < version.header.storedSize {
            var header = version.header
            header.storedSize = map.end * size
            // The header is shortened first, and the file only when the disk has that header.
            try forceOver(header)
        }
        let needed = version.header.storedSize
        if try FilePath.size(of: file, path) > needed && environment.files.truncate(file, to: Int(needed)) != 0 {
            throw .system("write", path)
        }
        know(map, version)
    }

    /// The number of pages in a run that is worth giving back: 256 KiB.
    private static let worthPunching = 64

    // MARK: The wrapped key

    /// Puts the file's key into the header in another wrapping. Everything that was written is on the disk before.
    ///
    /// - Parameter wrap: Called with the present header.
    mutating func rewrap(
        _ wrap: (FileHeader) throws(DataProtectionError) -> WrappedFileKey
    ) throws(DataProtectionError) {
        try settle()
        var header = version.header
        header.key = try wrap(header)
        let sequence = version.highestSequence + 1
        var new = version
        // The slot in use comes last, so that one slot is intact at any moment. Both are written, so that no other
        // wrapping stays.
        for slot in [1 - version.slot, version.slot] {
            new = try new.writing(header, over: slot, sequence: sequence, writer)
            try force()
        }
        keep(new)
    }
}
