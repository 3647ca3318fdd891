/// A variable as a file sets it: a text, or the text of a reference.
package struct NamedValue: Equatable, Sendable {
    package let name: String
    package let value: String
    /// Where the name stands, from 1.
    package let line: Int
    package let column: Int

    /// The same variable, wherever it stands.
    package static func == (one: NamedValue, other: NamedValue) -> Bool {
        one.name == other.name && one.value == other.value
    }
}

/// The variables of a file, in its order.
struct NamedValues: Equatable, Sendable {
    private(set) var all: [NamedValue] = []
    private var names: Set<String> = []

    /// - Throws: if there is one of this name; which of them counts is told differently by every reader of such files.
    mutating func add(_ name: String, _ value: String, at start: TextReader) throws(SyntaxFlaw) {
        guard names.insert(name).inserted else { throw start.flaw("\(name) is set a second time") }
        all.append(NamedValue(name: name, value: value, line: start.line, column: start.column))
    }
}
