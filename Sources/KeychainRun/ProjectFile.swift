/// A project's own file, `keychain.toml`: a command, and the variables that it gets (docs/cli.md, "A project's own
/// file").
///
/// The file is TOML with strings and one table. Everything else of TOML is refused.
package struct ProjectFile: Equatable, Sendable {
    package static let name = "keychain.toml"
    /// A limit that no real file comes near.
    package static let mostBytes = 64 << 10

    /// The command as a line for the shell; nil: the file has none.
    package private(set) var command: String?
    private var values = NamedValues()

    package var variables: [NamedValue] { values.all }

    package init(_ bytes: UnsafeRawBufferPointer) throws(SyntaxFlaw) {
        var reader = try TextReader(bytes)
        var isInTable = false
        try reader.skipEmptyLines()
        while !reader.isAtEnd {
            let start = reader
            if reader.take("[") {
                guard !isInTable else { throw start.flaw("there is one table only") }
                try reader.takeTitle(from: start)
                isInTable = true
            } else {
                let name = try reader.takeName()
                let value = try reader.takeAssignment()
                if isInTable {
                    try values.add(name, value, at: start)
                } else {
                    guard name == "command" else {
                        throw start.flaw("only command may stand here; variables go under [environment]")
                    }
                    guard command == nil else { throw start.flaw("command is set a second time") }
                    command = value
                }
            }
            try reader.skipEmptyLines()
        }
    }
}

extension TextReader {
    fileprivate mutating func takeTitle(from start: TextReader) throws(SyntaxFlaw) {
        skipBlanks()
        let title = take(while: VariableName.isPart)
        skipBlanks()
        guard title == "environment", take("]") else { throw start.flaw("the only table is [environment]") }
        try endLine(after: "the table's name")
    }

    fileprivate mutating func takeAssignment() throws(SyntaxFlaw) -> String {
        skipBlanks()
        guard take("=") else { throw flaw("a = is expected behind the name") }
        skipBlanks()
        let start = self
        let value: String
        if take("'") {
            value = take { $0 != "'" && $0 != "\n" && !Self.isControl($0) }
            guard take("'") else { throw start.flaw("the string does not end in its line") }
        } else if take("\"") {
            value = try takeString(from: start)
        } else {
            throw flaw("a string in quotes is expected, and nothing else that TOML has")
        }
        guard next != "'" && next != "\"" else { throw start.flaw("strings of several lines are not taken") }
        try endLine(after: "the string")
        return value
    }

    private mutating func takeString(from start: TextReader) throws(SyntaxFlaw) -> String {
        var text = String.UnicodeScalarView()
        while !take("\"") {
            let place = self
            guard let scalar = take(), !Self.isControl(scalar) else {
                throw start.flaw("the string does not end in its line, or has a control character in it")
            }
            guard scalar == "\\" else {
                text.append(scalar)
                continue
            }
            guard let escaped = takeEscaped() else { throw place.flaw("that is no escape of TOML's, or a zero") }
            text.append(escaped)
        }
        return String(text)
    }

    private mutating func takeEscaped() -> Unicode.Scalar? {
        switch take() {
        case "b": return "\u{8}"
        case "t": return "\t"
        case "n": return "\n"
        case "f": return "\u{c}"
        case "r": return "\r"
        case "\"": return "\""
        case "\\": return "\\"
        case "u": return takeNumber(digits: 4)
        case "U": return takeNumber(digits: 8)
        default: return nil
        }
    }

    private mutating func takeNumber(digits: Int) -> Unicode.Scalar? {
        var text = ""
        for _ in 0..<digits {
            guard let digit = take(), digit.isASCII, digit.properties.isASCIIHexDigit else { return nil }
            text.unicodeScalars.append(digit)
        }
        return UInt32(text, radix: 16).flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\t" && (scalar.value < 0x20 || scalar.value == 0x7f)
    }
}
