internal import KeychainModel

/// A question before what cannot be taken back.
enum Confirmation {
    /// Whether a person can be asked, and sees the question.
    static var isPossible: Bool { Console.canAsk }

    /// Asks on the terminal whether to go on.
    ///
    /// - Parameters:
    ///   - consequence: What happens then.
    ///   - present: How things are, and stay if the answer is another one than "yes".
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
