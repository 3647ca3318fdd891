internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// The state of the disk, as far as one open file knows it.
///
/// ```
///               forced                     the disk refuses
///  unforced ───────────────► forced ─────────────────────────► lost
///     │                                                          ▲
///     ├──────────────────── the disk refuses ────────────────────┘
///     └── the disk refuses what was found after a crash ──► nothingToGoBackTo
/// ```
///
/// The system drops a write that failed, and would report success at the next attempt. So nothing leads out of the last
/// two states. Only opening the file anew does, which looks at the content again.
enum Durability {
    /// This object has not waited for the disk. Earlier writes, of any program, may not be there yet.
    case unforced
    /// The disk has had everything once.
    case forced
    /// The disk may lack bytes that were written. Writes go on beside the base, and none of them becomes durable.
    case lost
    /// As `lost`, with content that has no base to go back to. No write is made any more.
    case nothingToGoBackTo

    var hasLost: Bool { self == .lost || self == .nothingToGoBackTo }

    /// Waits until the disk has all bytes of a file.
    mutating func force(_ file: Int32, _ path: String, _ files: any FileSystem) throws(DataProtectionError) {
        guard files.syncData(file) == 0 else {
            let refusal = DataProtectionError.system("be sure that the disk has what was written to", path)
            if !hasLost { self = .lost }
            throw refusal
        }
        if self == .unforced { self = .forced }
    }

    /// The mark of the headers that are written in this state.
    func bootMark(_ key: OpenFileKey) -> FileHeader.BootMark {
        guard hasLost else { return key.bootMark }
        // No start of the system has this number.
        let none = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        return FileHeader.bootMark(of: none, fileKey: key.fileKey, fileID: key.fileID)
    }

    static func lost(_ path: String) -> DataProtectionError {
        DataProtectionError(
            .system, path, "the disk has refused an earlier write, which may be lost: open the file anew", errno: EIO)
    }
}

/// The facts that a process remembers of a file between two writes. They belong to the thread whose turn it is.
struct WritersMemory {
    var disk = Durability.unforced
    var pages = FreePages()
}

/// The free pages of a file, as far as this process knows them.
struct FreePages {
    /// The version that the map is for.
    private var version: FileVersion?
    private var map = PageMap.nothing
    /// Whether there may be space to give back: content was cut off or made zeros since the last sync, or not
    /// everything could be written.
    var mayGiveBack = false
    /// Whether the disk was full once. The file takes no more space than it has to from then on.
    var isDiskFull = false

    private func isFor(_ other: FileVersion) -> Bool { version === other || version?.slots == other.slots }

    /// Brings the map up to what other programs have written, or begins a new one.
    ///
    /// - Parameters:
    ///   - reader: A reader of the version.
    ///   - nodes: The nodes that the map is made of.
    mutating func begin(_ version: FileVersion, _ reader: SealedFileReader, _ nodes: NodeCache) {
        if isFor(version) { return }
        if !follow(version, reader, nodes) { map = PageMap(end: version.endOfPages) }
        self.version = version
    }

    /// - Returns: false if that cannot be told. A write needs no part of the file that does not open here.
    private mutating func follow(_ version: FileVersion, _ reader: SealedFileReader, _ nodes: NodeCache) -> Bool {
        guard let known = self.version, known.header.key.fileID == version.header.key.fileID,
            map.end <= version.endOfPages, let change = try? reader.difference(from: known.header, nodes),
            // After damage, other programs may have gone on from an older state, which this map knows nothing of.
            change.new.allSatisfy({ $0.writeCount > known.header.writeCount })
        else { return false }
        for (place, entry, node) in change.nodes { nodes.keep(node, at: place, for: entry) }
        var ofBase: [FileEntry]?
        if let base = version.base, base != known.base {
            guard let rest = try? reader.of(base).difference(from: version.header, nodes) else { return false }
            ofBase = rest.new
        }
        map.follow(
            change, ofBase: ofBase, baseWriteCount: version.base?.writeCount ?? 0, end: version.endOfPages)
        return true
    }

    mutating func know(_ map: PageMap, _ version: FileVersion) {
        self.map = map
        self.version = version
    }

    /// Goes on with a version that uses the same pages.
    mutating func follow(_ version: FileVersion, from former: FileVersion) {
        if isFor(former) { self.version = version }
    }

    /// Frees the pages of the former base: the version is the base now.
    mutating func forgetBase(_ version: FileVersion) {
        if isFor(version) { map.forgetBase() }
    }

    /// Hands the map over. It is not copied, and nothing is known until ``know(_:_:)``.
    mutating func take() -> PageMap {
        defer { (version, map) = (nil, .nothing) }
        return map
    }

    /// Whether so many pages are unused and unknown that a search for them is worthwhile.
    func isSearchWorthwhile(_ version: FileVersion) -> Bool {
        if map.isComplete { return false }
        let used = version.header.usedPages
        return isDiskFull || map.end - 1 - min(map.end - 1, used) > max(UInt64(PageMap.fewPages), used / 4)
    }
}
