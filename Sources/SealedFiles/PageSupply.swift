internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// The pages that one change takes. Its parts get pages in a row where there are so many, so that they can be written
/// at once.
struct PageSupply {
    private(set) var map: PageMap
    /// Whether the file may become somewhat larger than its content needs, so that it is not written in pieces.
    private let mayGrow: Bool
    /// Pages that are taken and not used yet.
    private var reserved = PageMap.Run(page: 1, count: 0)

    init(_ map: PageMap, mayGrow: Bool) {
        self.map = map
        self.mayGrow = mayGrow
    }

    var hasReserved: Bool { reserved.count > 0 }

    /// Reserves pages in a row for the next parts, if there are so many.
    mutating func reserve(_ count: Int, usedPages: UInt64) {
        giveBack()
        let isDense = map.freeCount < max(PageMap.fewPages, Int(usedPages / 4))
        guard let page = map.takeFree(count) ?? (mayGrow && isDense ? map.extend(by: count) : nil) else { return }
        reserved = PageMap.Run(page: page, count: count)
    }

    mutating func take(_ count: Int) -> UInt64 {
        guard reserved.count >= count else { return map.take(count) }
        defer { reserved = PageMap.Run(page: reserved.page + UInt64(count), count: reserved.count - count) }
        return reserved.page
    }

    /// Frees the pages that no part has taken.
    mutating func giveBack() {
        map.put(reserved)
        reserved.count = 0
    }

    /// Frees the pages of a part that the change has replaced.
    ///
    /// - Parameter isOfBase: Whether the base uses them too.
    mutating func free(_ run: PageMap.Run, isOfBase: Bool) {
        if isOfBase { map.putAside(run) } else { map.put(run) }
    }
}

/// Whole pages of a buffer, with their place in the file.
struct Piece {
    let page: UInt64
    let buffer: ContentBuffer
    let range: Range<Int>
}

extension FileSystem {
    /// Writes pieces. Neighbours, in memory and in the file, are written at once.
    func write(_ pieces: [Piece], to file: Int32, _ path: String) throws(DataProtectionError) {
        let sorted = pieces.sorted { $0.page < $1.page }
        var index = 0
        while index < sorted.count {
            let first = sorted[index]
            var range = first.range
            index += 1
            while index < sorted.count, sorted[index].buffer === first.buffer,
                sorted[index].range.lowerBound == range.upperBound,
                sorted[index].page == first.page + UInt64(range.count / FileFormat.pageSize)
            {
                range = range.lowerBound..<sorted[index].range.upperBound
                index += 1
            }
            try writeAll(
                UnsafeRawBufferPointer(first.buffer.bytes.extracting(range)), to: file,
                at: first.page * UInt64(FileFormat.pageSize), path)
        }
    }
}
