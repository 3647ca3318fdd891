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
        func column(
            _ heading: String, usual: String? = nil, worth: Int?, canBeCut: Bool = false, _ cell: (Item) -> String
        ) -> TableColumn {
            TableColumn(cells: [heading] + items.map(cell), usual: usual, worth: worth, canBeCut: canBeCut)
        }
        // The column of least worth is left out first. The two without a number identify the item.
        let columns = [
            column("CLASS", usual: "generic", worth: 5) { $0.itemClass.name },
            column("GROUP", usual: "keychain", worth: 2, canBeCut: true) { Self.cell(.text($0.accessGroup)) },
            column("WHERE", worth: nil, canBeCut: true) { Self.cell(place(of: $0)) },
            column("ACCOUNT", worth: nil, canBeCut: true) { Self.cell($0.attributes[.account]) },
            column("LABEL", worth: 3, canBeCut: true) { Self.cell($0.attributes[.label]) },
            column("ACCESSIBLE", usual: "when-unlocked", worth: 1) { $0.accessibility },
            column("MODIFIED", worth: 0) { Timestamp.short($0.modified) },
        ]
        // Few items expire.
        let expires = items.contains { expiry(of: $0) != "-" }
        return columns + (expires ? [column("EXPIRES", worth: 4, expiry)] : [])
    }

    private func place(of item: Item) -> AttributeValue? {
        showsWholePlaces && item.itemClass == .internetPassword ? .text(item.wholePlace) : item.place
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

    fileprivate var accessibility: String {
        // The flag of a key in the engine asks for nothing.
        let asks =
            isKeptInEngine ? !accessControl.flags.subtracting(.privateKeyUsage).isEmpty : accessControl.isConstrained
        return accessControl.protection.name + (asks ? " +constraints" : "") + (isKeptInEngine ? " +engine" : "")
            + (synchronizable ? " +sync" : "")
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
