/// A file of variables, one a line, in the form that other tools use: `NAME=value`.
///
/// Values are not expanded (docs/cli.md, "Env files").
package struct EnvironmentFile: Equatable, Sendable {
    private var values = NamedValues()

    package var variables: [NamedValue] { values.all }

    package init(_ bytes: UnsafeRawBufferPointer) throws(SyntaxFlaw) {
        var reader = try TextReader(bytes)
        try reader.skipEmptyLines()
        while !reader.isAtEnd {
            var start = reader
            var name = try reader.takeName()
            if name == "export", reader.next == " " || reader.next == "\t" {
                reader.skipBlanks()
                start = reader
                name = try reader.takeName()
            }
            guard reader.take("=") else { throw reader.flaw("a = is expected right behind the name \(name)") }
            try values.add(name, try reader.takeValue(), at: start)
            try reader.skipEmptyLines()
        }
    }
}

extension TextReader {
    fileprivate mutating func takeValue() throws(SyntaxFlaw) -> String {
        let start = column
        skipBlanks()
        switch next {
        // A # right behind the = is the value's first character.
        case "#" where column > start:
            try endLine(after: "the value")
            return ""
        case "'", "\"":
            let value = try next == "'" ? takeLiteral() : takeQuoted()
            try endLine(after: "the closing quote")
            return value
        default: return try takeBare()
        }
    }

    /// The value ends with its line, or before a comment that has a blank before it.
    private mutating func takeBare() throws(SyntaxFlaw) -> String {
        var text = String.UnicodeScalarView()
        while !isAtLineEnd {
            if next == "#", text.last == " " || text.last == "\t" { break }
            if let scalar = take() { text.append(scalar) }
        }
        try endLine(after: "the value")
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    /// Takes the next character, or a line feed for an end of a line.
    private mutating func takeText() -> Unicode.Scalar? {
        if isAtLineEnd { _ = take("\r") }
        return take()
    }

    private mutating func takeLiteral() throws(SyntaxFlaw) -> String {
        let start = self
        _ = take()
        var value = String.UnicodeScalarView()
        while next != "'", let scalar = takeText() { value.append(scalar) }
        guard take("'") else { throw start.flaw("the quote ' is never closed") }
        return String(value)
    }

    private mutating func takeQuoted() throws(SyntaxFlaw) -> String {
        let start = self
        _ = take()
        var text = String.UnicodeScalarView()
        while next != "\"" {
            let place = self
            guard let scalar = takeText() else { throw start.flaw("the quote \" is never closed") }
            guard scalar == "\\" else {
                text.append(scalar)
                continue
            }
            guard let escaped = take().flatMap(Self.escaped) else {
                throw place.flaw("behind a backslash one of n r t \\ \" $ is expected")
            }
            text.append(escaped)
        }
        _ = take()
        return String(text)
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar {
        case "n": "\n"
        case "r": "\r"
        case "t": "\t"
        case "\\", "\"", "$": scalar
        default: nil
        }
    }
}
