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

    /// The columns that a terminal has room for, cut where they have to be.
    static func fitted(_ columns: [TableColumn], to limit: Int) -> [TableColumn] {
        var columns = columns
        while isTooWide(columns.map { $0.canBeCut ? min($0.width, narrowest) : $0.width }, limit),
            let least = leastWorth(columns)
        {
            columns.remove(at: least)
        }
        while isTooWide(columns.map(\.width), limit),
            let widest = columns.indices.filter({ columns[$0].canBeCut })
                .max(by: { columns[$0].width < columns[$1].width }), columns[widest].width > 1
        {
            columns[widest].width -= 1
        }
        return columns
    }

    private static func isTooWide(_ widths: [Int], _ limit: Int) -> Bool {
        widths.reduce(0, +) + gap.count * max(0, widths.count - 1) > limit
    }

    /// Those that say nothing go first.
    private static func leastWorth(_ columns: [TableColumn]) -> Int? {
        columns.indices.filter { columns[$0].worth != nil }.min { columns[$0].order < columns[$1].order }
    }

    private var order: (Int, Int) {
        let tellsNothing = cells.dropFirst().allSatisfy { $0 == "-" || $0 == usual }
        return (tellsNothing ? 0 : 1, worth ?? .max)
    }

    /// The cell of a row, cut or filled to the column's width.
    func padded(_ row: Int) -> String {
        let cell = cells[row]
        let cut = TerminalText.columns(cell) > width ? TerminalText.prefix(cell, columns: width - 1) + "…" : cell
        return cut + String(repeating: " ", count: width - TerminalText.columns(cut))
    }
}
