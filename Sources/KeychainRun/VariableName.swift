/// The names that variables have in shells.
package enum VariableName {
    package static func isValid(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy(isPart)
    }

    static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}

/// A variable as a file sets it: a text, or the text of a reference.
package struct NamedValue: Equatable, Sendable {
    package let name: String
    package let value: String
}

/// Those of a file, in its order.
struct NamedValues: Equatable, Sendable {
    private(set) var all: [NamedValue] = []
    private var names: Set<String> = []

    /// - Throws: if there is one of this name; which of them counts is told differently by every reader of such files.
    mutating func add(_ name: String, _ value: String, at start: TextReader) throws(SyntaxFlaw) {
        guard names.insert(name).inserted else { throw start.flaw("\(name) is set a second time") }
        all.append(NamedValue(name: name, value: value))
    }
}
