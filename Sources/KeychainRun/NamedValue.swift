/// A variable that a file sets to a text, or to the text of a reference.
package struct NamedValue: Equatable, Sendable {
    package let name: String
    package let value: String
    /// The place of the name, counted from 1.
    package let line: Int
    package let column: Int

    /// The place makes no difference.
    package static func == (one: NamedValue, other: NamedValue) -> Bool {
        one.name == other.name && one.value == other.value
    }
}

/// The variables of a file, in its order.
struct NamedValues: Equatable, Sendable {
    private(set) var all: [NamedValue] = []
    private var names: Set<String> = []

    /// - Throws: if the name is set already. The readers of such files differ in which of the two counts.
    mutating func add(_ name: String, _ value: String, at start: TextReader) throws(SyntaxFlaw) {
        guard names.insert(name).inserted else { throw start.flaw("\(name) is set a second time") }
        all.append(NamedValue(name: name, value: value, line: start.line, column: start.column))
    }
}
