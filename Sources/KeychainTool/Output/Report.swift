/// A value whose parts have keys in JSON, and terms in lines for a person.
protocol Keyed: JSONConvertible {
    /// The fields, in the order of their keys and of their lines.
    static var fields: [Field<Self>] { get }
}

/// The output of a command, field by field: lines for a person, an object for a script, and a table in docs/cli.md.
protocol Report: Keyed {
    /// The report for a person, with a final newline.
    var text: String { get }
}

extension Keyed {
    /// The object has every field with a key, except fields that are not there.
    var json: JSONValue {
        .object(
            Self.fields.compactMap { field in
                guard let key = field.key, let value = field.value(self) else { return nil }
                return (key, value)
            })
    }

    /// A line for every field with a term.
    func add(to lines: inout Lines) {
        for field in Self.fields {
            guard let term = field.term, let words = field.words(self) else { continue }
            lines.add(term, words.text, emphasizing: words.emphasis)
            for remark in words.remarks { lines.add("", remark) }
        }
    }
}

extension Report {
    /// The lines. A report that a person reads as a sentence has a text of its own.
    var text: String {
        var lines = Lines()
        add(to: &lines)
        return lines.text
    }

    func write(json isForScripts: Bool) throws(ToolFailure) {
        if isForScripts { try writeJSON() } else { try Console.write(text) }
    }
}

/// A field of a report: its term for a person, its key for a script, and its value.
struct Field<Subject>: Sendable {
    /// nil: scripts do not get the field.
    let key: String?
    /// The meaning of the value, for the table of keys in docs/cli.md.
    let meaning: String
    /// nil: a person does not see the field. Empty: the line continues the one before it.
    let term: String?
    /// nil: there is no such line.
    let words: @Sendable (Subject) -> Words?
    /// nil: the key is not there. A value that is not known is `.null`.
    let value: @Sendable (Subject) -> JSONValue?

    /// - Parameters:
    ///   - words: The value for a person; nil: the value as it is.
    ///   - isThere: Whether the subject has the field; nil: every one has it.
    init<Value: JSONConvertible>(
        _ key: String, _ meaning: String, term: String? = nil, words: (@Sendable (Subject) -> Words?)? = nil,
        when isThere: (@Sendable (Subject) -> Bool)? = nil, _ value: @escaping @Sendable (Subject) -> Value
    ) {
        (self.key, self.meaning, self.term) = (key, meaning, term)
        let json: @Sendable (Subject) -> JSONValue? = { isThere?($0) == false ? nil : value($0).json }
        self.value = json
        self.words = words ?? { json($0)?.plain.map { Words($0) } }
    }

    private init(
        _ key: String?, _ meaning: String, _ term: String?, _ words: @escaping @Sendable (Subject) -> Words?,
        _ value: @escaping @Sendable (Subject) -> JSONValue?
    ) {
        (self.key, self.meaning, self.term, self.words, self.value) = (key, meaning, term, words, value)
    }

    /// A line for a person alone.
    static func line(_ term: String, _ words: @escaping @Sendable (Subject) -> Words?) -> Field {
        Field(nil, "", term, words) { _ in nil }
    }

    /// The field's line for a person, without its key.
    var line: Field { Field(nil, "", term, words) { _ in nil } }

    /// The field with its line only for subjects that meet a condition.
    func shown(if isShown: @escaping @Sendable (Subject) -> Bool) -> Field {
        let words = words
        return Field(key, meaning, term, { isShown($0) ? words($0) : nil }, value)
    }

    /// The field of a part, as a field of the whole. It is not there without the part.
    func of<Whole>(_ part: @escaping @Sendable (Whole) -> Subject?) -> Field<Whole> {
        let (words, value) = (words, value)
        return Field<Whole>(key, meaning, term, { part($0).flatMap(words) }) { part($0).flatMap(value) }
    }
}

extension Array {
    /// The fields of a part, as fields of the whole.
    func of<Part, Whole>(_ part: @escaping @Sendable (Whole) -> Part?) -> [Field<Whole>] where Element == Field<Part> {
        map { $0.of(part) }
    }
}

/// The value of a field for a person.
struct Words: ExpressibleByStringInterpolation {
    var text: String
    /// The word that has a colour on a terminal.
    var emphasis: String?
    /// The lines below, which have no term.
    var remarks: [String] = []

    init(_ text: String, emphasizing emphasis: String? = nil, remarks: [String] = []) {
        (self.text, self.emphasis, self.remarks) = (text, emphasis, remarks)
    }

    init(stringLiteral text: String) { self.init(text) }
}
