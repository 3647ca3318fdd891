internal import Glibc
internal import KeychainModel

/// The ends of a conversation with a program.
enum AssuanFailure: Error {
    case cancelled
    case timedOut
    /// The program closed its end, or has ended.
    case closed
    /// The program sent a line that the protocol does not have.
    case garbage(String)
    case system(Int32)

    init(_ failure: WaitFailure) {
        switch failure {
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .system(let code): self = .system(code)
        }
    }

    /// For a failure while a person may be looking at the dialog.
    func promptFailure(of program: String) -> PromptFailure {
        switch self {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .closed: .failed("\(program) ended without an answer")
        case .garbage(let what): .failed("\(program) does not speak the protocol of a pinentry: \(what)")
        case .system(let code): .failed("cannot talk to \(program): \(String(cString: strerror(code)))")
        }
    }
}
