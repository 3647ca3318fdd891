internal import KeychainModel

/// The reasons why secrets are not there. Each is told, and none is enough to end at once, unless a person was asked.
struct LookupProblems {
    private var codes: [KeychainError.Code] = []

    mutating func note(_ name: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as KeychainError where error.code != .userCancelled && error.code != .authenticationFailed {
            tell(name, error)
        } catch let error as AmbiguousMatch {
            tell(name, error.error)
        } catch let failure as ToolFailure {
            throw ToolFailure(message: failure.message.map { "\(name): \($0); nothing was started" })
        }
    }

    private mutating func tell(_ name: String, _ error: KeychainError) {
        Console.complain("\(name): \(error.message)")
        codes.append(error.code)
    }

    /// - Throws: an error with the status of one of them, if there were any. What is locked is never said to be missing.
    func end() throws(KeychainError) {
        guard let first = codes.first else { return }
        throw KeychainError(codes.first { $0 != .itemNotFound } ?? first, message: "nothing was started")
    }
}
