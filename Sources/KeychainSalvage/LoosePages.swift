internal import FoundationEssentials
internal import KeychainEngine
internal import KeychainModel

/// The pages of a database as they lie in its file and in its log, read without SQLite.
final class LoosePages {
    let pageSize: Int
    /// Bytes of a page that hold content: all, since none are reserved in our databases.
    var usableSize: Int { pageSize }
    /// The numbers of the pages that the file or the log has, in order.
    let numbers: [Int]
    private let database: DatabasePages
    private let log: LoggedTransactions?
    /// The frames of the log that claim to hold a page, the newest last.
    private let logged: [UInt32: [Int]]

    /// How often a page of a chain may be read, on average. Each page belongs to one record, and a record may have
    /// copies.
    private static let mostReadings = 16
    private let mostChainedPages: Int
    private(set) var chainedPagesRead = 0

    /// - Throws: `.notAvailable` if the file cannot be opened.
    init(_ url: URL) throws(KeychainError) {
        guard let database = try DatabasePages(url) else {
            throw KeychainError(.notAvailable, message: "\(url.path) is missing or empty: there is nothing to save")
        }
        self.database = database
        log = try LoggedTransactions(url, database)
        pageSize = log?.log.isHeaderIntact == true ? log!.log.pageSize : database.pageSize
        // Damaged frames count too: a damaged page costs the rows on it, a dropped frame all that was written after it.
        logged = log.map { $0.log.framesByPage(among: $0.committed) } ?? [:]
        let inFile = database.file.count / pageSize
        // A damaged page number can be far beyond the end of the database.
        let most = log?.log.frames.filter { $0.isLinked && $0.isCurrent }.map { Int($0.pagesAfterCommit) }.max() ?? 0
        let size = pageSize
        let present = database.file.contentRanges.map { range in
            (range.lowerBound / size + 1)...((range.upperBound - 1) / size + 1)
        }
        numbers = Set(present.joined()).union(logged.keys.map { Int($0) }.filter { 1...max(inFile, most, 1) ~= $0 })
            .sorted()
        mostChainedPages = Self.mostReadings * (numbers.count + 64)
    }

    /// The possible contents of a page, the newest first. If the newest frame fails its checksum, it may belong to
    /// another page, so the content before it is given too.
    func candidates(_ number: Int) -> [[UInt8]] {
        guard let log, let key = UInt32(exactly: number) else { return page(number).map { [$0] } ?? [] }
        var contents: [[UInt8]] = []
        for frame in (logged[key] ?? []).reversed() {
            if let bytes = log.file.bytes(at: log.log.offset(ofPageIn: frame), count: pageSize) {
                contents.append(bytes)
            }
            if log.log.frames[frame].isLinked { return contents }
        }
        if let bytes = database.file.bytes(at: (number - 1) * pageSize, count: pageSize) { contents.append(bytes) }
        return contents
    }

    /// The overflow pages of a record, from `first` on; nil if there are too few, if they form a circle, or if the
    /// readings are used up because records lead to the same pages again and again.
    func chain(from first: Int, byteCount: Int) -> Data? {
        var bytes = Data()
        var seen: Set<Int> = []
        var next = first
        while bytes.count < byteCount {
            guard chainedPagesRead < mostChainedPages, seen.insert(next).inserted, let page = page(next) else {
                return nil
            }
            chainedPagesRead += 1
            bytes.append(contentsOf: page[4..<min(usableSize, 4 + byteCount - bytes.count)])
            next = page.withUnsafeBytes { Int($0.word(0)) }
        }
        return bytes
    }

    /// The schema's version in the header, read without SQLite (sqlite.org/fileformat.html, section 1.3); nil if the
    /// header is damaged or belongs to no database of ours.
    var schemaVersion: Int? {
        guard let page = page(1), page.count >= 100, page.starts(with: "SQLite format 3\0".utf8) else { return nil }
        func word(_ offset: Int) -> Int { page.withUnsafeBytes { Int($0.word(offset)) } }
        return word(68) == StoreSchema.applicationID ? word(60) : nil
    }

    /// Calls `body` with every record that has the shape of a row, older copies and deleted rows among them.
    ///
    /// - Parameter progress: Told how many pages were looked at, and how many there are.
    func forEachRow(_ progress: (Int, Int) -> Void, _ body: (SalvagedRow) throws -> Void) throws {
        for (index, number) in numbers.enumerated() {
            progress(index, numbers.count)
            for content in candidates(number) {
                try LoosePage(number, content, of: self).forEachRecord(columns: SalvagedRow.columnCounts) { record in
                    if let row = SalvagedRow(record) { try body(row) }
                }
            }
        }
        progress(numbers.count, numbers.count)
    }

    /// The newest content of a page; nil if the page is missing or cannot be read.
    ///
    /// - Parameter number: From 1.
    func page(_ number: Int) -> [UInt8]? {
        guard number > 0, let key = UInt32(exactly: number) else { return nil }
        if let log, let frame = logged[key]?.last {
            return log.file.bytes(at: log.log.offset(ofPageIn: frame), count: pageSize)
        }
        return database.file.bytes(at: (number - 1) * pageSize, count: pageSize)
    }
}
