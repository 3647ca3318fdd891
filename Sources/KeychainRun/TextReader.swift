/// Reads text from front to back, and knows its place in it.
struct TextReader {
    private var rest: Substring.UnicodeScalarView
    private(set) var line = 1
    private(set) var column = 1

    /// - Throws: if the bytes are not UTF-8, or have a zero byte, which no variable can hold.
    init(_ bytes: UnsafeRawBufferPointer) throws(SyntaxFlaw) {
        rest = Substring().unicodeScalars
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if let column = Self.column(ofFlawIn: line, hasMark: index == 0) {
                throw SyntaxFlaw(
                    line: index + 1, column: column, message: "a zero byte, or one that is not UTF-8 text, stands here")
            }
        }
        rest = Substring(String(decoding: bytes, as: UTF8.self)).unicodeScalars
        // A mark of the byte order is no part of the text.
        if rest.first == "\u{feff}" { rest.removeFirst() }
    }

    /// The column of the first byte that is no text.
    private static func column(ofFlawIn line: Slice<UnsafeRawBufferPointer>, hasMark: Bool) -> Int? {
        var decoder = UTF8()
        var bytes = line.makeIterator()
        var column = hasMark && line.starts(with: "\u{feff}".utf8) ? 0 : 1
        while true {
            switch decoder.decode(&bytes) {
            case .scalarValue("\0"), .error: return column
            case .scalarValue: column += 1
            case .emptyInput: return nil
            }
        }
    }

    var next: Unicode.Scalar? { rest.first }
    var isAtEnd: Bool { rest.isEmpty }

    /// Whether the reader is at the end of a line or of the text.
    var isAtLineEnd: Bool { isAtEnd || next == "\n" || (next == "\r" && rest.dropFirst().first == "\n") }

    func flaw(_ message: String) -> SyntaxFlaw { SyntaxFlaw(line: line, column: column, message: message) }

    mutating func take() -> Unicode.Scalar? {
        guard let scalar = rest.popFirst() else { return nil }
        column += 1
        if scalar == "\n" { (line, column) = (line + 1, 1) }
        return scalar
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        _ = take()
        return true
    }

    mutating func take(while isMeant: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = next, isMeant(scalar) {
            text.append(scalar)
            _ = take()
        }
        return String(text)
    }

    mutating func skipBlanks() { _ = take { $0 == " " || $0 == "\t" } }

    /// Goes behind the end of the line. Only blanks and a comment may stand before it.
    mutating func endLine(after what: String) throws(SyntaxFlaw) {
        skipBlanks()
        if next == "#" { while !isAtLineEnd { _ = take() } }
        guard isAtLineEnd else { throw flaw("nothing but a comment may follow \(what)") }
        _ = take("\r")
        _ = take("\n")
    }

    /// Goes behind blanks, comments and line ends.
    mutating func skipEmptyLines() throws(SyntaxFlaw) {
        while !isAtEnd {
            skipBlanks()
            guard next == "#" || isAtLineEnd else { return }
            try endLine(after: "nothing")
        }
    }

    // MARK: Names

    /// The name of a variable, in the form that shells accept.
    mutating func takeName() throws(SyntaxFlaw) -> String {
        let start = self
        let name = take(while: VariableName.isPart)
        guard VariableName.isValid(name) else {
            throw start.flaw("a name is expected: letters, digits and _, and no digit first")
        }
        return name
    }
}
