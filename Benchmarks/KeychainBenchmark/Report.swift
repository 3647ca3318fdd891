internal import Foundation

/// Every row, for people or for programs.
struct Report {
    /// What is compared.
    var floorTitle = "floor"
    var engineTitle = "engine"
    var rows: [Row] = []

    func markdown() -> String {
        let header = ["work", "items", floorTitle, engineTitle, "measured", "goal", "met"]
        let lines = [header, header.map { _ in "---" }] + rows.map(cells)
        return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(rows.map(Entry.init)), as: UTF8.self)
    }

    /// A row with what follows from it written out.
    private struct Entry: Encodable {
        var row: Row
        var measured: Double
        var isMet: Bool?

        init(_ row: Row) {
            self.row = row
            measured = row.measured
            isMet = row.isMet
        }
    }

    private func cells(_ row: Row) -> [String] {
        [
            row.work,
            row.items.map(grouped) ?? "–",
            row.floor.map { text($0, row.unit) } ?? "–",
            text(row.engine, row.unit),
            measured(row),
            row.goal.map { (row.unit.isBetterHigher ? "≥ " : "≤ ") + amount($0, row) } ?? "–",
            row.isMet.map { $0 ? "yes" : "**no**" } ?? "–",
        ]
    }

    private func measured(_ row: Row) -> String {
        row.measure == .difference && row.measured >= 0 ? "+" + amount(row.measured, row) : amount(row.measured, row)
    }

    private func amount(_ value: Double, _ row: Row) -> String {
        row.measure == .ratio ? text(value, .times) : text(value, row.unit)
    }

    private func text(_ figure: Figure, _ unit: Row.Unit) -> String {
        text(figure.median, unit) + (figure.percentile99.map { " (p99 \(text($0, unit)))" } ?? "")
    }

    private func text(_ value: Double, _ unit: Row.Unit) -> String {
        switch unit {
        case .times: decimal(value, 2) + "×"
        case .bytes where abs(value) >= 10_000_000: decimal(value / 1_000_000, 1) + " MB"
        case .bytes where abs(value) >= 10_000: decimal(value / 1000, 1) + " kB"
        case .bytes: decimal(value, 0) + " B"
        case .microseconds where abs(value) >= 1000: decimal(value / 1000, 2) + " ms"
        case .microseconds: decimal(value, 1) + " µs"
        case .count: grouped(Int(value))
        case .rowsPerSecond: grouped(Int(value)) + " rows/s"
        case .callsPerSecond: grouped(Int(value)) + "/s"
        }
    }

    private func decimal(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

    private func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.indices.reduce(into: "") { text, place in
            if place > 0 && (digits.count - place) % 3 == 0 { text.append(",") }
            text.append(digits[place])
        }
    }
}
