internal import KeychainModel

/// A check whether a text is TOML, as far as that shows without its tables. A tool that cannot read its file does not
/// find its passwords either.
package struct TOMLText {
    private static let mostDepth = 64

    private var rest: Substring.UTF8View
    private var table = ""
    private var names: Set<String> = []

    /// The line of the first mistake; nil: there is none.
    package static func flaw(in text: String) -> Int? {
        var reader = TOMLText(rest: Substring(text).utf8)
        while !reader.rest.isEmpty {
            guard reader.takeLine() else {
                let read = text.utf8.count - reader.rest.count
                return text.utf8.prefix(read).filter { $0 == UInt8(ascii: "\n") }.count + 1
            }
        }
        return nil
    }

    private init(rest: Substring.UTF8View) { self.rest = rest }

    // MARK: Lines

    /// - Returns: false at a mistake.
    private mutating func takeLine() -> Bool {
        skipBlanks()
        let next = rest.first
        if next == UInt8(ascii: "[") { return takeHeader() && takeEnd() }
        if let next, !"#\r\n".utf8.contains(next) {
            guard let name = takeKey(), names.insert(table + "\0" + name).inserted, take("=") else { return false }
            guard takeValue(depth: 0) else { return false }
        }
        return takeEnd()
    }

    private mutating func takeHeader() -> Bool {
        let isList = rest.starts(with: "[[".utf8)
        guard take(isList ? "[[" : "["), let name = takeKey(), take(isList ? "]]" : "]") else { return false }
        table = name
        guard isList else { return names.insert("[" + name).inserted }
        // In another element all names may come once more.
        names = names.filter { entry in
            !["\0", "\u{1}"].contains { entry.hasPrefix(name + $0) || entry.hasPrefix("[" + name + $0) }
        }
        return true
    }

    /// Takes blanks, a comment and the end of the line.
    private mutating func takeEnd() -> Bool {
        skipBlanks()
        if rest.first == UInt8(ascii: "#") { rest = rest.drop { $0 != UInt8(ascii: "\n") } }
        if rest.isEmpty { return true }
        return take("\r\n") || take("\n")
    }

    // MARK: Keys and values

    /// The parts of a key in a form in which equal keys are equal.
    private mutating func takeKey() -> String? {
        var parts: [String] = []
        repeat {
            skipBlanks()
            let start = rest
            if let quote = rest.first, "\"'".utf8.contains(quote) {
                guard takeString() else { return nil }
                parts.append(
                    String(decoding: start.prefix(start.count - rest.count).dropFirst().dropLast(), as: UTF8.self))
            } else {
                let name = rest.prefix(while: Self.isNamePart)
                if name.isEmpty { return nil }
                rest = rest.dropFirst(name.count)
                parts.append(String(decoding: name, as: UTF8.self))
            }
            skipBlanks()
        } while take(".")
        return parts.joined(separator: "\u{1}")
    }

    private mutating func takeValue(depth: Int) -> Bool {
        skipBlanks()
        guard depth < Self.mostDepth, let next = rest.first else { return false }
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return takeString()
        case UInt8(ascii: "["): return takeList(closing: "]") { $0.takeValue(depth: depth + 1) }
        case UInt8(ascii: "{"):
            return takeList(closing: "}") { $0.takeKey() != nil && $0.take("=") && $0.takeValue(depth: depth + 1) }
        default:
            let word = rest.prefix { Self.isNamePart($0) || "+.:".utf8.contains($0) }
            rest = rest.dropFirst(word.count)
            // A date and a time may have a blank between them.
            if word.count == 10, rest.first == 0x20, let next = rest.dropFirst().first, Self.isDigit(next) {
                rest = rest.dropFirst().drop { Self.isNamePart($0) || "+.:".utf8.contains($0) }
            }
            return ["true", "false", "inf", "nan"].contains(String(decoding: word, as: UTF8.self))
                || (word.first.map { Self.isDigit($0) || "+-".utf8.contains($0) } ?? false)
        }
    }

    private mutating func takeList(closing: String, _ takeElement: (inout TOMLText) -> Bool) -> Bool {
        rest = rest.dropFirst()
        while true {
            skipLines()
            if take(closing) { return true }
            guard takeElement(&self) else { return false }
            skipLines()
            if take(closing) { return true }
            guard take(",") else { return false }
        }
    }

    private mutating func takeString() -> Bool {
        guard let quote = rest.first else { return false }
        let mark = [quote, quote, quote]
        let isLong = rest.starts(with: mark)
        rest = rest.dropFirst(isLong ? 3 : 1)
        while let byte = rest.first {
            if isLong ? rest.starts(with: mark) : byte == quote {
                rest = rest.dropFirst(isLong ? 3 : 1)
                // Two quotes may stand right before the end of a long string.
                if isLong { rest = rest.dropFirst(rest.prefix(2).prefix { $0 == quote }.count) }
                return true
            }
            if byte == UInt8(ascii: "\n") && !isLong { return false }
            rest = rest.dropFirst(byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") ? 2 : 1)
        }
        return false
    }

    // MARK: Characters

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isNamePart(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "_-".utf8.contains(byte) }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

    private mutating func skipLines() {
        while true {
            rest = rest.drop { " \t\r\n".utf8.contains($0) }
            guard rest.first == UInt8(ascii: "#") else { return }
            rest = rest.drop { $0 != UInt8(ascii: "\n") }
        }
    }
}
