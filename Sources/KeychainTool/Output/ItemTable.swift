internal import FoundationEssentials
internal import KeychainModel

/// A table of items for a person: one line each, without secrets.
struct ItemTable {
    /// A label may be megabytes long; a line of a table may not.
    private static let widestCell = 40

    let items: [Item]
    /// The ends of certificates, by their identifiers.
    var ends: [UUID: CertificateEnd] = [:]
    /// The columns of the terminal. A wider table has columns cut or left out.
    var width = Console.outputWidth
    var hasColors = Console.outputHasColors
    /// Whether the place of an internet password has its protocol, port and path, so that a person can choose.
    var showsWholePlaces = false

    var text: String { lines.map { $0 + "\n" }.joined() }

    var lines: [String] {
        let columns = TableColumn.fitted(columns, to: width)
        return (0...items.count).map { row in
            let cells = columns.map { $0.padded(row) }.joined(separator: TableColumn.gap)
            let line = String(cells.reversed().drop { $0 == " " }.reversed())
            return row == 0 && hasColors ? "\u{1b}[1m\(line)\u{1b}[m" : line
        }
    }

    private var columns: [TableColumn] {
        let rows = items.map(cells)
        // The column of least worth is left out first. The two without a number identify the item.
        let all: [(heading: String, usual: String?, worth: Int?, canBeCut: Bool)] = [
            ("CLASS", "generic", 5, false), ("GROUP", "keychain", 2, true), ("WHERE", nil, nil, true),
            ("ACCOUNT", nil, nil, true), ("LABEL", nil, 3, true), ("ACCESSIBLE", "when-unlocked", 1, false),
            ("MODIFIED", nil, 0, false), ("EXPIRES", nil, 4, false),
        ]
        // Few items expire, so the last column is often empty.
        let shown = items.contains { expiry(of: $0) != "-" } ? all : all.dropLast()
        return shown.enumerated().map { place, column in
            TableColumn(
                cells: [column.heading] + rows.map { $0[place] }, usual: column.usual, worth: column.worth,
                canBeCut: column.canBeCut)
        }
    }

    private func cells(of item: Item) -> [String] {
        let accessible =
            item.accessControl.protection.name
            + (item.asksForSomething ? " +constraints" : "") + (item.isKeptInEngine ? " +engine" : "")
            + (item.synchronizable ? " +sync" : "")
        return [
            item.itemClass.name, Self.cell(.text(item.accessGroup)),
            Self.cell(showsWholePlaces && item.itemClass == .internetPassword ? .text(item.wholePlace) : item.place),
            Self.cell(item.attributes[.account]), Self.cell(item.attributes[.label]),
            accessible, Timestamp.short(item.modified), expiry(of: item),
        ]
    }

    private func expiry(of item: Item) -> String {
        item.expires.map { Timestamp.short($0.seconds) } ?? ends[item.identifier]?.remark ?? "-"
    }

    private static func cell(_ value: AttributeValue?) -> String {
        guard let value else { return "-" }
        return clipped(value.text { String(validating: $0, as: UTF8.self) ?? "<\($0.count) bytes>" })
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
    /// The place with the parts that the item has: "imaps://mail.example:993/inbox".
    fileprivate var wholePlace: String {
        func text(_ attribute: Attribute) -> String {
            switch attributes[attribute] {
            case .text(let code) where attribute == .internetProtocol: InternetProtocol.name(ofCode: code) + "://"
            case .number(let number) where number != 0: ":\(number)"
            default: self.text(attribute)
            }
        }
        return [.internetProtocol, .server, .port, .path].map(text).joined()
    }

    /// Whether the item's use asks for a person or a password. The flag of a key in the engine asks for nothing.
    fileprivate var asksForSomething: Bool {
        isKeptInEngine ? !accessControl.flags.subtracting(.privateKeyUsage).isEmpty : accessControl.isConstrained
    }
}

extension [Item] {
    /// The items in an order for people: class, group, service or server, account.
    var sortedForPeople: [Item] { sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) } }
}

extension Item {
    /// Empty: the item has no such text.
    private func text(_ attribute: Attribute) -> String { attributes[attribute]?.text ?? "" }

    fileprivate var sortKey: [String] {
        [
            String(itemClass.number), accessGroup, text(.service) + text(.server), text(.account),
            identifier.uuidString,
        ]
    }
}
