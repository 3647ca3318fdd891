/// SQLite's write-ahead log, read without SQLite (sqlite.org/fileformat.html, section 4).
///
/// SQLite takes the first frame with a wrong checksum for a write that a power cut tore, and silently drops it with
/// everything behind it. If a byte in the midst of the log is damaged, that drops acknowledged writes. A power cut can
/// tear only the last transaction, since each transaction is on the disk before the next one begins; so a further
/// transaction behind the damage, or a part of one, proves that no power cut tore the log.
package struct WriteAheadLog {
    /// A frame's header, and whether its checksum follows from the checksum of the frame before.
    package struct Frame {
        var page: UInt32
        /// The number of pages of the database after the transaction that this frame ends; 0 if it ends none.
        package var pagesAfterCommit: UInt32
        /// Whether the frame was written since the log was last begun anew.
        package var isCurrent: Bool
        package var isLinked: Bool

        var endsTransaction: Bool { isCurrent && pagesAfterCommit > 0 }
    }

    static let headerSize = 32
    static let frameHeaderSize = 24

    package let pageSize: Int
    let salts: Salts
    package let frames: [Frame]
    /// false if SQLite would not look at the log at all.
    package let isHeaderIntact: Bool

    struct Salts: Hashable {
        var first: UInt32
        var second: UInt32
    }

    package func offset(ofPageIn frame: Int) -> Int {
        Self.headerSize + frame * (Self.frameHeaderSize + pageSize) + Self.frameHeaderSize
    }

    // MARK: Frames that count

    /// The number of frames that SQLite keeps when no process has the database open: up to the end of the last
    /// transaction before the first frame with a wrong checksum.
    var framesKeptBySQLite: Int {
        guard isHeaderIntact else { return 0 }
        var kept = 0
        for (index, frame) in frames.enumerated() {
            guard frame.isCurrent && frame.isLinked else { break }
            if frame.endsTransaction { kept = index + 1 }
        }
        return kept
    }

    /// The number of frames of transactions that were on the disk, as far as the log itself proves it.
    ///
    /// Behind the first frame with a wrong checksum, the end of a transaction counts if a later frame was written. The
    /// remains of a roll-back prove nothing, since they have no end of a transaction.
    var framesProvenByLog: Int {
        let kept = framesKeptBySQLite
        let firstBroken = frames.firstIndex { !($0.isCurrent && $0.isLinked) } ?? frames.count
        var proven = kept
        var lastEnd: Int?
        for index in kept..<frames.count {
            let frame = frames[index]
            if let end = lastEnd, frame.isCurrent && frame.isLinked {
                if index == end + 1 { proven = max(proven, index) }
                if frame.endsTransaction { proven = max(proven, index + 1) }
            }
            if isEnd(index, isFirstBroken: index == firstBroken) { lastEnd = index }
        }
        return proven
    }

    /// Whether a frame ends a transaction. A damaged frame does too, whatever its header says, if the next frame was
    /// written after it.
    private func isEnd(_ index: Int, isFirstBroken: Bool) -> Bool {
        let frame = frames[index]
        let next = index + 1 < frames.count ? frames[index + 1] : nil
        return frame.pagesAfterCommit > 0
            && (frame.isCurrent && (frame.isLinked || isFirstBroken)
                || next.map { $0.isCurrent && $0.isLinked } ?? false)
    }

    /// The frames of each page, among the first `count` frames.
    package func framesByPage(among count: Int) -> [UInt32: [Int]] {
        var frames: [UInt32: [Int]] = [:]
        for (index, frame) in self.frames.prefix(count).enumerated() where frame.isCurrent {
            frames[frame.page, default: []].append(index)
        }
        return frames
    }

    /// The frame with the newest content of each page, among the first `count` frames.
    func newestFrames(among count: Int) -> [UInt32: Int] {
        var newest: [UInt32: Int] = [:]
        for (index, frame) in frames.prefix(count).enumerated() where frame.isCurrent { newest[frame.page] = index }
        return newest
    }
}

// MARK: - Reading

extension WriteAheadLog {
    /// - Parameters:
    ///   - pageSize: The database's page size, used if the log's own header is damaged.
    ///   - salts: The salts in the log's index, used if the log's own header is damaged.
    /// - Returns: nil if the log is empty, or its header is damaged and no frame follows.
    init?(_ file: FileBytes, pageSize databasePageSize: Int, salts knownSalts: Salts?) {
        guard let start = file.bytes(at: 0, count: Self.headerSize) else { return nil }
        let header = start.withUnsafeBytes { Header($0) }
        isHeaderIntact = header.isIntact
        pageSize = header.isIntact ? header.pageSize : databasePageSize
        let frameSize = Self.frameHeaderSize + pageSize
        let count = (file.count - Self.headerSize) / frameSize
        guard count > 0 || header.isIntact else { return nil }
        salts = header.isIntact ? header.salts : knownSalts ?? Self.commonSalts(file, count, frameSize)
        frames = Self.frames(file, count, frameSize, header, salts)
    }

    /// The reading ends after so many frames from before the log was begun anew: such frames stand at the end of the
    /// log, and a hole of any size is read in no time.
    private static let mostStrangers = 16_384

    /// The most frequent salts of the first frames, since the first frame may be damaged with the header.
    private static func commonSalts(_ file: FileBytes, _ count: Int, _ frameSize: Int) -> Salts {
        var counts: [Salts: Int] = [:]
        for index in 0..<min(count, mostStrangers) {
            guard let header = file.bytes(at: headerSize + index * frameSize, count: frameHeaderSize) else { break }
            counts[header.withUnsafeBytes { Salts($0) }, default: 0] += 1
        }
        return counts.max { $0.value < $1.value }?.key ?? Salts(first: 0, second: 0)
    }

    private static func frames(
        _ file: FileBytes, _ count: Int, _ frameSize: Int, _ header: Header, _ salts: Salts
    ) -> [Frame] {
        var frames: [Frame] = []
        var former = header.checksum
        var strangers = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: frameSize, alignment: 8)
        defer { piece.deallocate() }
        for index in 0..<count {
            guard strangers < mostStrangers else { break }
            let offset = headerSize + index * frameSize
            guard file.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: piece[..<frameHeaderSize])) else {
                break
            }
            let bytes = UnsafeRawBufferPointer(piece)
            // No page has the number 0, so such a frame is a hole, whatever its salts are.
            let isCurrent = bytes.word(0) > 0 && Salts(bytes) == salts
            if !isCurrent { strangers += 1 }
            let stored = Checksum(first: bytes.word(16), second: bytes.word(20))
            var computed = former
            if isCurrent {
                guard file.read(at: offset, into: piece) else { break }
                computed.add(UnsafeRawBufferPointer(rebasing: bytes[..<8]), isBigEndian: header.isBigEndian)
                computed.add(
                    UnsafeRawBufferPointer(rebasing: bytes[frameHeaderSize...]), isBigEndian: header.isBigEndian)
            }
            frames.append(
                Frame(
                    page: bytes.word(0), pagesAfterCommit: bytes.word(4), isCurrent: isCurrent,
                    isLinked: isCurrent && computed == stored))
            // The stored checksum is used, not the computed one, so that one damaged frame does not spoil the check of
            // the next.
            former = stored
        }
        return frames
    }

    private struct Header {
        let isIntact: Bool
        let isBigEndian: Bool
        let pageSize: Int
        let salts: Salts
        let checksum: Checksum

        init(_ bytes: UnsafeRawBufferPointer) {
            // The magic number is odd if the checksums are of big-endian words; for a damaged header, this machine's
            // order is taken.
            let magic: UInt32 = 0x377f_0682
            let saysBigEndian = bytes.word(0) & 1 == 1
            pageSize = Int(bytes.word(8))
            salts = Salts(first: bytes.word(16), second: bytes.word(20))
            checksum = Checksum(first: bytes.word(24), second: bytes.word(28))
            var computed = Checksum(first: 0, second: 0)
            computed.add(UnsafeRawBufferPointer(rebasing: bytes[..<24]), isBigEndian: saysBigEndian)
            let isPageSize = (512...65_536).contains(pageSize) && pageSize & (pageSize - 1) == 0
            isIntact = computed == checksum && isPageSize && bytes.word(0) & ~1 == magic
            isBigEndian = isIntact ? saysBigEndian : UInt32(1).bigEndian == 1
        }
    }

    /// sqlite.org/fileformat.html, section 4.2.
    struct Checksum: Equatable {
        var first: UInt32
        var second: UInt32

        /// - Parameter bytes: A multiple of eight.
        mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
            var (first, second) = (first, second)
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                let words = bytes.loadUnaligned(fromByteOffset: offset, as: (UInt32, UInt32).self)
                first &+= (isBigEndian ? words.0.bigEndian : words.0.littleEndian) &+ second
                second &+= (isBigEndian ? words.1.bigEndian : words.1.littleEndian) &+ first
            }
            (self.first, self.second) = (first, second)
        }
    }
}

extension WriteAheadLog.Salts {
    fileprivate init(_ frame: UnsafeRawBufferPointer) {
        first = frame.word(8)
        second = frame.word(12)
    }
}
