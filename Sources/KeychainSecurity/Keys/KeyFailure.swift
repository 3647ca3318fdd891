internal import Foundation
internal import KeychainModel

/// The failure of a function for keys, which reports it as an object and not as a status.
struct KeyFailure {
    let error: NSError

    init(_ error: KeychainError) { self.error = NSError(error) }

    /// The failure of an operation with a key in the engine: what a person declines, or may not be asked for, and what a context
    /// that was invalidated no longer answers, is an error of `LAError.errorDomain`, as Apple's tokens report it.
    init(_ error: KeychainError, mayAsk: Bool, isLocked: Bool, isInvalidated: Bool) {
        let code: Int? =
            switch error.code {
            case .userCancelled: -2
            case .interactionNotAllowed where isInvalidated && !isLocked: -10
            case .authenticationFailed where isInvalidated: -10
            case .interactionNotAllowed where !mayAsk && !isLocked: -1004
            default: nil
            }
        self.error =
            code.map {
                NSError(
                    domain: "com.apple.LocalAuthentication", code: $0,
                    userInfo: [NSLocalizedDescriptionKey: error.message])
            } ?? NSError(error)
    }

    /// The caller owns what it receives.
    func report(to place: UnsafeMutablePointer<Unmanaged<CFError>?>?) { place?.pointee = .passRetained(error) }
}

/// Runs the body of a function for keys, and reports its failure.
func reporting<R>(
    to place: UnsafeMutablePointer<Unmanaged<CFError>?>?, for key: SecKey? = nil, _ body: () throws(KeychainError) -> R
) -> R? {
    do throws(KeychainError) {
        return try body()
    } catch {
        var failure = KeyFailure(error)
        if case .engine(let key)? = key?.half { failure = key.failure(error) }
        failure.report(to: place)
        return nil
    }
}
