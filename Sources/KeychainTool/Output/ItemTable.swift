internal import Foundation
internal import KeychainModel

/// Items for a person to look at: one line each, never a secret.
struct ItemTable {
    private static let headings = ["CLASS", "GROUP", "WHERE", "ACCOUNT", "LABEL", "ACCESSIBLE", "MODIFIED"]
    /// A label may be megabytes long; a line of a table may not.
    private static let widestCell = 40

    let items: [Item]
    /// Of certificates, by their identifiers.
    var ends: [UUID: CertificateEnd] = [:]

    var text: String {
        // Few items expire: without one the column would be empty.
        let expire = items.contains { expiry(of: $0) != "-" }
        let headings = Self.headings + (expire ? ["EXPIRES"] : [])
        let rows = [headings] + items.map { Self.cells(of: $0) + (expire ? [expiry(of: $0)] : []) }
        let widths = headings.indices.map { column in rows.map { TerminalText.columns($0[column]) }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - TerminalText.columns(cell))
            }
            return cells.joined(separator: "  ").trimmingSuffix(while: { $0 == " " })
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func cells(of item: Item) -> [String] {
        let accessible =
            Accessibility(item.accessControl.protection).rawValue
            + (item.asksForSomething ? " +constraints" : "") + (item.isKeptInEngine ? " +engine" : "")
        return [
            ItemKind(item.itemClass).rawValue, cell(.text(item.accessGroup)),
            cell(item.attributes[.service] ?? item.attributes[.server] ?? item.attributes[.applicationTag]),
            cell(item.attributes[.account]), cell(item.attributes[.label]),
            accessible, Timestamp.short(item.modified),
        ]
    }

    private func expiry(of item: Item) -> String {
        item.expires.map { Timestamp.short($0.seconds) } ?? ends[item.identifier]?.remark ?? "-"
    }

    private static func cell(_ value: AttributeValue?) -> String {
        switch value {
        case nil: "-"
        case .text(let text): clipped(text)
        case .data(let data): String(validating: data, as: UTF8.self).map(clipped) ?? "<\(data.count) bytes>"
        case .number(let number): String(number)
        case .date(let seconds): Timestamp.short(seconds)
        }
    }

    private static func clipped(_ text: String) -> String {
        if text.isEmpty { return "\"\"" }
        let start = String(text.unicodeScalars.prefix(widestCell + 1))
        let escaped = TerminalText.escape(start)
        let isTooWide = TerminalText.columns(escaped) > widestCell
        return isTooWide ? TerminalText.prefix(escaped, columns: widestCell - 1) + "…" : escaped
    }
}

extension Item {
    /// Whether its use asks for a person or a password. That a key in the engine is for use alone asks for nothing.
    fileprivate var asksForSomething: Bool {
        isKeptInEngine ? !accessControl.flags.subtracting(.privateKeyUsage).isEmpty : accessControl.isConstrained
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, predicate(last) { rest.removeLast() }
        return String(rest)
    }
}
