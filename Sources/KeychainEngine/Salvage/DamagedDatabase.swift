internal import Foundation

/// The rows of a database that SQLite may not be able to read, as they lie in its pages. A client has no use for reading
/// those by hand: `KeychainSalvage` does it, which the command alone links.
package protocol DamagedDatabase {
    /// Whatever is there of it; nil: nothing.
    var firstPage: [UInt8]? { get }

    /// Calls `body` with everything that has the shape of a row, older copies and those that were deleted among them.
    ///
    /// - Parameter progress: Told how many pages were looked at, and how many there are.
    func forEachRow(_ progress: (Int, Int) -> Void, _ body: (SalvagedRow) throws -> Void) throws
}

extension DamagedDatabase {
    /// What the header says of the schema, read without SQLite (sqlite.org/fileformat.html, section 1.3); nil if it is not
    /// that of a database of ours: it may be damaged.
    var schemaVersion: Int? {
        guard let page = firstPage, page.count >= 100, page.starts(with: "SQLite format 3\0".utf8) else { return nil }
        func word(_ offset: Int) -> Int { page.withUnsafeBytes { Int($0.word(offset)) } }
        return word(68) == StoreSchema.applicationID ? word(60) : nil
    }
}
