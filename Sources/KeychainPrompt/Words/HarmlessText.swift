/// Words from outside, made fit for a dialog: one line of limited length that only says what it shows.
///
/// A program could otherwise write lines of the dialog itself, move the cursor of a terminal, turn the direction of the
/// writing, or push its name out of sight.
enum HarmlessText {
    /// The part that is left out of a text that is too long.
    enum Cut {
        case end
        case middle
    }

    /// - Parameters:
    ///   - limit: In bytes as a protocol carries them, where a percent sign takes three.
    ///   - isASCII: Whether nothing else can be shown.
    static func make(_ text: String, limit: Int, cut: Cut = .end, isASCII: Bool = false) -> String {
        let ellipsis = isASCII ? "..." : "…"
        // Not all of it is looked at: it may be very long.
        let scalars = text.unicodeScalars
        let head = visible(scalars.prefix(limit + 1), isASCII)
        let isWhole = scalars.dropFirst(limit + 1).isEmpty
        if isWhole && cost(of: head) <= limit { return head.joined() }
        switch cut {
        case .end:
            return prefix(head, limit - ellipsis.utf8.count).joined() + ellipsis
        case .middle:
            let tail = isWhole ? head : visible(scalars.suffix(limit + 1), isASCII)
            let half = (limit - ellipsis.utf8.count) / 2
            return prefix(head, half).joined() + ellipsis + prefix(tail.reversed(), half).reversed().joined()
        }
    }

    private static func cost(of pieces: [String]) -> Int { pieces.reduce(0) { $0 + cost(of: $1) } }

    private static func cost(of piece: String) -> Int { piece == "%" ? 3 : piece.utf8.count }

    private static func prefix(_ pieces: [String], _ limit: Int) -> [String] {
        var left = limit
        return Array(
            pieces.prefix { piece in
                left -= cost(of: piece)
                return left >= 0
            })
    }

    /// The signs for each character: itself, or signs that can be seen. One blank stands for several.
    private static func visible(_ scalars: some Sequence<Unicode.Scalar>, _ isASCII: Bool) -> [String] {
        var pieces: [String] = []
        var marks = 0
        for scalar in scalars {
            let kind = scalar.properties.generalCategory
            let isBlank = scalar.properties.isWhitespace
            if isBlank && (pieces.isEmpty || pieces.last == " ") { continue }
            // A letter has a few; more of them paint over the lines above and below.
            marks = kind == .nonspacingMark || kind == .enclosingMark ? marks + 1 : 0
            if marks > 4 { continue }
            pieces.append(isBlank ? " " : sign(for: scalar, kind, isASCII))
        }
        if pieces.last == " " { pieces.removeLast() }
        return pieces
    }

    private static func sign(
        for scalar: Unicode.Scalar, _ kind: Unicode.GeneralCategory, _ isASCII: Bool
    ) -> String {
        switch kind {
        case .control where scalar.value < 0x20: "^\(Unicode.Scalar(UInt8(scalar.value) + 0x40))"
        case .control where scalar.value == 0x7f: "^?"
        // Words of Persian and of Indian languages, and some emoji, are written with these two.
        case .format where scalar.value == 0x200c || scalar.value == 0x200d: isASCII ? "" : String(scalar)
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            "<U+\(String(scalar.value, radix: 16, uppercase: true))>"
        default: isASCII && !scalar.isASCII ? "?" : String(scalar)
        }
    }
}
