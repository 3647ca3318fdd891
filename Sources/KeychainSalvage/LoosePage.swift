internal import FoundationEssentials
internal import KeychainEngine
internal import KeychainModel

/// The records of a page.
///
/// Everything is checked against the page's bounds, since any byte of it may be damaged.
struct LoosePage {
    let number: Int
    private let bytes: [UInt8]
    private let pages: LoosePages

    init(_ number: Int, _ bytes: [UInt8], of pages: LoosePages) {
        self.number = number
        self.bytes = bytes
        self.pages = pages
    }

    // MARK: Finding records

    /// Calls `body` with each record that has so many columns and NULL in the first one. A row's own number is stored
    /// as NULL.
    ///
    /// In an intact page the structure leads to the records. In a damaged page everything that looks like a record is
    /// tried, older records among it.
    func forEachRecord(columns: ClosedRange<Int>, _ body: ([LooseValue]) throws -> Void) rethrows {
        for start in intactRecords ?? Array(bytes.indices) {
            if let record = record(at: start, columns: columns) { try body(record) }
        }
    }

    /// The starts of the records; nil if the page is no leaf of a table, or its structure is damaged
    /// (sqlite.org/fileformat.html, section 1.6).
    private var intactRecords: [Int]? {
        let header = number == 1 ? 100 : 0
        let tableLeaf: UInt8 = 0x0d
        guard bytes[header] == tableLeaf else { return nil }
        let count = short(header + 3)
        let contentStart = short(header + 5) == 0 ? 65_536 : short(header + 5)
        let pointersEnd = header + 8 + 2 * count
        guard pointersEnd <= contentStart, contentStart <= pages.usableSize else { return nil }
        var accounted = Int(bytes[header + 7])
        var starts: [Int] = []
        for index in 0..<count {
            let pointer = short(header + 8 + 2 * index)
            guard pointer >= contentStart, let cell = cell(at: pointer) else { return nil }
            accounted += cell.size
            starts.append(cell.recordStart)
        }
        guard let free = freeBytes(from: short(header + 1), contentStart) else { return nil }
        // A different sum means that records overlap or that bytes between them belong to none.
        return accounted + free == pages.usableSize - contentStart ? starts : nil
    }

    private func cell(at pointer: Int) -> (recordStart: Int, size: Int)? {
        guard let (payload, rowStart) = varint(at: pointer), let (_, recordStart) = varint(at: rowStart),
            payload <= Int64(Int32.max)
        else { return nil }
        let local = localByteCount(of: Int(payload))
        let size = max(4, recordStart - pointer + local + (local < Int(payload) ? 4 : 0))
        return pointer + size <= pages.usableSize ? (recordStart, size) : nil
    }

    /// The bytes in the chain of free blocks; nil if the chain leads astray.
    private func freeBytes(from first: Int, _ contentStart: Int) -> Int? {
        var total = 0
        var block = first
        while block != 0 {
            guard block >= contentStart, block + 4 <= pages.usableSize else { return nil }
            let (next, size) = (short(block), short(block + 2))
            guard size >= 4, next == 0 || next > block else { return nil }
            total += size
            block = next
        }
        return total
    }

    // MARK: Reading records

    /// nil if there is no record of that shape.
    private func record(at start: Int, columns: ClosedRange<Int>) -> [LooseValue]? {
        guard let (headerSize, firstType) = varint(at: start), headerSize > 0, headerSize < 128,
            start + Int(headerSize) <= pages.usableSize
        else { return nil }
        var types: [Int64] = []
        var next = firstType
        while next < start + Int(headerSize) {
            guard types.count < columns.upperBound, let (type, after) = varint(at: next) else { return nil }
            // The first column is checked early, since every byte of a damaged page is tried.
            if types.isEmpty && type != 0 { return nil }
            types.append(type)
            next = after
        }
        guard columns.contains(types.count), next == start + Int(headerSize) else { return nil }
        return values(types, start, Int(headerSize))
    }

    /// The largest item, and the bytes that sealing adds.
    private static let mostBytes = Item.mostBytes + 16_384

    private func values(_ types: [Int64], _ start: Int, _ headerSize: Int) -> [LooseValue]? {
        let sizes = types.compactMap(Self.byteCount)
        // Each size is compared first, since the sum of damaged sizes could overflow.
        guard sizes.count == types.count, sizes.allSatisfy({ $0 <= Self.mostBytes }),
            sizes.reduce(0, +) <= Self.mostBytes,
            let payload = payload(at: start, count: headerSize + sizes.reduce(0, +))
        else { return nil }
        var values: [LooseValue] = []
        var place = headerSize
        for (type, size) in zip(types, sizes) {
            values.append(Self.value(type, payload[payload.startIndex + place..<payload.startIndex + place + size]))
            place += size
        }
        return values
    }

    private static func byteCount(_ type: Int64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 12...: Int(exactly: (type - 12) / 2)
        default: nil
        }
    }

    private static func value(_ type: Int64, _ bytes: Data) -> LooseValue {
        switch type {
        case 0: return .null
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 1...6:
            let isNegative = bytes.first! & 0x80 != 0
            return .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
        default: return .bytes(Data(bytes))
        }
    }

    /// A record's bytes, from this page and its overflow pages.
    private func payload(at start: Int, count: Int) -> Data? {
        let local = localByteCount(of: count)
        guard start + local <= pages.usableSize else { return nil }
        let payload = Data(bytes[start..<start + local])
        if local == count { return payload }
        guard start + local + 4 <= pages.usableSize else { return nil }
        let next = bytes.withUnsafeBytes { Int($0.word(start + local)) }
        guard let rest = pages.chain(from: next, byteCount: count - local) else { return nil }
        return payload + rest
    }

    /// How much of a record is in the page itself (sqlite.org/fileformat.html, section 1.6).
    private func localByteCount(of payload: Int) -> Int {
        let usable = pages.usableSize
        let most = usable - 35
        if payload <= most { return payload }
        let least = (usable - 12) * 32 / 255 - 23
        let wanted = least + (payload - least) % (usable - 4)
        return wanted <= most ? wanted : least
    }

    // MARK: Numbers

    private func short(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }

    /// A number of one to nine bytes, and where the bytes after it begin.
    private func varint(at start: Int) -> (value: Int64, end: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard start + index < pages.usableSize else { return nil }
            let byte = bytes[start + index]
            if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), start + 9) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { return (Int64(bitPattern: value), start + index + 1) }
        }
        return nil
    }
}
