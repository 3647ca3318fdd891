internal import Foundation
internal import KeychainModel

/// The pages of a database as they lie in its file and in its log, whatever SQLite thinks of them.
final class LoosePages {
    let pageSize: Int
    /// Bytes of a page that hold content; the others are reserved.
    let usableSize: Int
    let count: Int
    private let database: DatabasePages
    private let log: LoggedTransactions?
    /// Where the newest content of a page is that is in the log.
    private let logged: [UInt32: Int]

    /// - Throws: `.notAvailable` if the file cannot be opened.
    init(_ url: URL) throws(KeychainError) {
        guard let database = try DatabasePages(url) else {
            throw KeychainError(.notAvailable, message: "\(url.path) is missing or empty: there is nothing to save")
        }
        self.database = database
        log = try LoggedTransactions(url, database)
        pageSize = log?.log.isHeaderIntact == true ? log!.log.pageSize : database.pageSize
        // The damaged frames too: a damaged page costs the rows on it, a dropped one all that was written after it.
        logged = log.map { $0.log.newestFrames(among: $0.committed) } ?? [:]
        let reserved = Int(database.file.bytes(at: 20, count: 1)?.first ?? 0)
        usableSize = reserved < 32 ? pageSize - reserved : pageSize
        count = max(database.file.count / pageSize, logged.keys.map { Int($0) }.max() ?? 0)
    }

    /// nil for a page that is nowhere, or cannot be read.
    ///
    /// - Parameter number: From 1.
    func page(_ number: Int) -> [UInt8]? {
        guard number > 0, let key = UInt32(exactly: number) else { return nil }
        if let log, let frame = logged[key] {
            return log.file.bytes(at: log.log.offset(ofPageIn: frame), count: pageSize)
        }
        return database.file.bytes(at: (number - 1) * pageSize, count: pageSize)
    }
}
