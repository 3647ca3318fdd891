internal import KeychainModel

/// A question before a step that cannot be taken back.
enum Confirmation {
    /// Whether a person can see the question and answer it.
    static var isPossible: Bool { Console.canAsk }

    /// Asks on the terminal whether to go on.
    ///
    /// - Parameters:
    ///   - consequence: The effect of the answer "yes".
    ///   - present: The present state, which stays after every other answer.
    static func require(_ consequence: String, else present: String) throws(KeychainError) {
        Console.noteBeforeQuestion(consequence)
        Console.ask("Type yes to go on: ")
        let answer = readLine()
        if answer == nil { Console.endLine() }
        guard answer == "yes" else {
            throw KeychainError(.userCancelled, message: "\(present); nothing was changed")
        }
    }
}
