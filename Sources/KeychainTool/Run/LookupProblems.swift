internal import KeychainModel

/// The reasons why secrets are missing. Each is told, and the look-up goes on, unless a person has declined or failed.
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

    /// - Throws: an error with the status of one problem. A missing item counts only if there is no other problem.
    func end() throws(KeychainError) {
        guard let first = codes.first else { return }
        throw KeychainError(codes.first { $0 != .itemNotFound } ?? first, message: "nothing was started")
    }
}
