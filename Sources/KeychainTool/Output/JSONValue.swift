internal import KeychainModel

/// JSON for scripts. The keys keep their order, and control characters are escaped.
///
/// Foundation's encoder does not escape the controls U+007F to U+009F, and sorts or shuffles the keys.
enum JSONValue {
    case null
    case boolean(Bool)
    case number(Int64)
    case string(String)
    case array([JSONValue])
    case object([(key: String, value: JSONValue)])

    /// The document, indented by two spaces, without a final newline.
    var text: String { text(indent: "") }

    /// The document in one line, for a stream of them.
    var line: String { text(indent: nil) }

    /// The text of a string, or the digits of a number; nil: the value is neither.
    var plain: String? {
        switch self {
        case .string(let text): text
        case .number(let value): String(value)
        default: nil
        }
    }

    /// An object with one more member.
    func adding(_ key: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [(key, value)])
    }

    /// - Parameter indent: The blanks before the end of an array or object; nil: all is in one line.
    private func text(indent: String?) -> String {
        let inner = indent.map { $0 + "  " }
        switch self {
        case .null: return "null"
        case .boolean(let value): return value ? "true" : "false"
        case .number(let value): return String(value)
        case .string(let value): return Self.quote(value)
        case .array(let values): return Self.list("[", values.map { $0.text(indent: inner) }, "]", indent)
        case .object(let members):
            let texts = members.map { "\(Self.quote($0.key)): \($0.value.text(indent: inner))" }
            return Self.list("{", texts, "}", indent)
        }
    }

    private static func list(_ start: String, _ texts: [String], _ end: String, _ indent: String?) -> String {
        guard let indent, !texts.isEmpty else { return start + texts.joined(separator: ", ") + end }
        return "\(start)\n\(texts.map { "\(indent)  \($0)" }.joined(separator: ",\n"))\n\(indent)\(end)"
    }

    private static func quote(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars { result += quoted(scalar) }
        return result + "\""
    }

    /// A character as it stands between the quotes of a string.
    static func quoted(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case _ where TerminalText.isHidden(scalar):
            String(scalar).utf16.reduce("") { text, unit in
                let digits = String(unit, radix: 16)
                return text + "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        default: String(scalar)
        }
    }
}
