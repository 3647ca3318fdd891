internal import Foundation

/// What the header of a database says of it, read without SQLite (sqlite.org/fileformat.html, section 1.3).
struct DatabaseIdentity {
    let version: Int

    /// nil if the header is not that of a database of ours: it may be damaged.
    init?(_ pages: LoosePages) {
        guard let page = pages.page(1), page.count >= 100, page.starts(with: "SQLite format 3\0".utf8) else {
            return nil
        }
        func word(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(page[offset + $1]) } }
        guard word(68) == StoreSchema.applicationID else { return nil }
        version = word(60)
    }
}
