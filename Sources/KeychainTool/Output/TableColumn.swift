internal import KeychainModel

/// A column of a table: its heading, and a cell for each row.
struct TableColumn {
    static let gap = "  "
    /// The least width of a cell that is cut.
    private static let narrowest = 12

    /// The cells, of which the first is the heading.
    private let cells: [String]
    /// The usual text of a cell. A column with no other text can be left out.
    private let usual: String?
    /// The worth of the column beside the others; nil: it is never left out.
    private let worth: Int?
    /// Whether the beginning of a cell is of use.
    private let canBeCut: Bool
    private var width: Int

    init(cells: [String], usual: String?, worth: Int?, canBeCut: Bool) {
        (self.cells, self.usual, self.worth, self.canBeCut) = (cells, usual, worth, canBeCut)
        width = cells.map(TerminalText.columns).max() ?? 0
    }

    /// The columns that a terminal has room for. A column that tells nothing goes first, then the others go by their
    /// worth. The names of items are cut last.
    static func fitted(_ columns: [TableColumn], to limit: Int) -> [TableColumn] {
        var columns = columns
        while isTooWide(columns.map { $0.tellsNothing ? $0.width : $0.leastWidth }, limit),
            let least = leastWorth(columns)
        {
            columns.remove(at: least)
        }
        while isTooWide(columns.map(\.width), limit), let widest = widest(of: columns) { columns[widest].width -= 1 }
        return columns
    }

    /// The least width of a column that stays. A name is cut only when all columns left are names.
    private var leastWidth: Int { canBeCut && worth != nil ? min(width, Self.narrowest) : width }

    /// The column to cut next; nil: no column can be cut.
    private static func widest(of columns: [TableColumn]) -> Int? {
        func width(_ column: Int) -> Int { columns[column].width }
        let cut = columns.indices.filter { columns[$0].canBeCut }
        return cut.filter { columns[$0].worth != nil && width($0) > narrowest }.max { width($0) < width($1) }
            ?? cut.filter { width($0) > 1 }.max { width($0) < width($1) }
    }

    private static func isTooWide(_ widths: [Int], _ limit: Int) -> Bool {
        widths.reduce(0, +) + gap.count * max(0, widths.count - 1) > limit
    }

    /// The column to leave out next. A column that tells nothing goes first.
    private static func leastWorth(_ columns: [TableColumn]) -> Int? {
        columns.indices.filter { columns[$0].worth != nil }.min { columns[$0].order < columns[$1].order }
    }

    private var tellsNothing: Bool { cells.dropFirst().allSatisfy { $0 == "-" || $0 == usual } }

    private var order: (Int, Int) { (tellsNothing ? 0 : 1, worth ?? .max) }

    /// The cell of a row, cut or filled to the column's width.
    func padded(_ row: Int) -> String {
        let cell = cells[row]
        let cut = TerminalText.columns(cell) > width ? TerminalText.prefix(cell, columns: width - 1) + "…" : cell
        return cut + String(repeating: " ", count: width - TerminalText.columns(cut))
    }
}
