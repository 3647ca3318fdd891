internal import Foundation
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The failure of a function for keys, which reports it as an object and not as a status.
struct KeyFailure {
    /// Apple's domain of errors of a key in the engine.
    static let tokenDomain = "CryptoTokenKit"

    let error: NSError

    init(_ error: KeychainError) { self.error = NSError(error) }

    /// The failure of an operation with a key in the engine: if a person declines or may not be asked, or a context was
    /// invalidated, it is an error of `LAError.errorDomain`, as Apple's tokens report it. A key that does not open
    /// (`KeychainError.Signal.worthlessKey`) is `TKError.Code.corruptedData`, which makes programs make a new one.
    init(_ error: KeychainError, of key: EngineKey) {
        let isLocked = error.code == .interactionNotAllowed && key.isLocked
        let (mayAsk, isInvalidated) = (key.mayAsk, key.isInvalidated)
        let (authentication, token) = ("com.apple.LocalAuthentication", Self.tokenDomain)
        let failure: (domain: String, code: Int)? =
            switch error.code {
            case .userCancelled: (authentication, -2)
            case .interactionNotAllowed where isInvalidated && !isLocked: (authentication, -10)
            case .authenticationFailed where isInvalidated: (authentication, -10)
            case .interactionNotAllowed where !mayAsk && !isLocked: (authentication, -1004)
            case .decode where error.signal == .worthlessKey: (token, -3)
            default: nil
            }
        self.error =
            failure.map {
                NSError(domain: $0.domain, code: $0.code, userInfo: [NSLocalizedDescriptionKey: error.message])
            } ?? NSError(error)
    }

    /// The caller owns the error.
    func report(to place: UnsafeMutablePointer<Unmanaged<CFError>?>?) { place?.pointee = .passRetained(error) }
}

/// Runs the body of a function for keys, and reports its failure.
func reporting<R>(
    to place: UnsafeMutablePointer<Unmanaged<CFError>?>?, for key: SecKey? = nil, _ body: () throws(KeychainError) -> R
) -> R? {
    do throws(KeychainError) {
        return try body()
    } catch {
        let failure = if let key = key?.half.inEngine { KeyFailure(error, of: key) } else { KeyFailure(error) }
        failure.report(to: place)
        return nil
    }
}

extension StoredKey {
    /// nil: the key is in this process.
    var inEngine: EngineKey? {
        if case .engine(let key) = self { key as? EngineKey } else { nil }
    }
}
