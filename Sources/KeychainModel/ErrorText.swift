internal import FoundationEssentials

/// The text of an error for a person. The errors of other modules describe themselves in Foundation's way, if they do.
package func text(of error: any Error) -> String {
    if let error = error as? KeychainError { return error.message }
    return (error as? any LocalizedError)?.errorDescription ?? "\(error)"
}
