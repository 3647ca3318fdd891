/// A program that another tool starts to find, store and erase its credentials here (docs/helpers.md).
protocol Helper: Sendable {
    /// The name that the tool calls it by.
    static var name: String { get }
    /// An answer, in the tool's terms, to a question that takes longer than ``TimeLimit/seconds``.
    static func answerOutOfTime(_ arguments: [String]) -> String
    /// - Returns: the exit status.
    static func run(_ arguments: [String], _ console: HelperConsole) -> Int32
}
