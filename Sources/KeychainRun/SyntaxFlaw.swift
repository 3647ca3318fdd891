/// A mistake in a file, with its place. The message never has the text of a value, which may be a secret.
package struct SyntaxFlaw: Error, Equatable {
    package let line: Int
    /// The column in characters, counted from 1.
    package let column: Int
    package let message: String

    /// The form of a compiler's messages: "FILE:LINE:COLUMN: MESSAGE".
    package func text(of path: String) -> String { "\(path):\(line):\(column): \(message)" }
}
