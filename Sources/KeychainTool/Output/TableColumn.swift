/// A column of a table: its heading, and a cell for each row.
struct TableColumn {
    static let gap = "  "
    /// A cell that is cut says at least this much.
    private static let narrowest = 12

    /// The heading first.
    private let cells: [String]
    /// What most cells say, so that a column with nothing else can be spared.
    private let usual: String?
    /// What it is worth beside the others; nil: it is never left out.
    private let worth: Int?
    /// Whether the beginning of a cell is of use.
    private let canBeCut: Bool
    private var width: Int

    init(cells: [String], usual: String?, worth: Int?, canBeCut: Bool) {
        (self.cells, self.usual, self.worth, self.canBeCut) = (cells, usual, worth, canBeCut)
        width = cells.map(TerminalText.columns).max() ?? 0
    }

    /// The columns that a terminal has room for. Those that tell nothing go first, then the others by their worth; what names
    /// an item is cut last.
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

    /// As long as the column is not left out. A name is cut only when it is alone with others.
    private var leastWidth: Int { canBeCut && worth != nil ? min(width, Self.narrowest) : width }

    /// The column that is to be cut next; nil: there is nothing left to cut.
    private static func widest(of columns: [TableColumn]) -> Int? {
        func width(_ column: Int) -> Int { columns[column].width }
        let cut = columns.indices.filter { columns[$0].canBeCut }
        return cut.filter { columns[$0].worth != nil && width($0) > narrowest }.max { width($0) < width($1) }
            ?? cut.filter { width($0) > 1 }.max { width($0) < width($1) }
    }

    private static func isTooWide(_ widths: [Int], _ limit: Int) -> Bool {
        widths.reduce(0, +) + gap.count * max(0, widths.count - 1) > limit
    }

    /// Those that say nothing go first.
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
