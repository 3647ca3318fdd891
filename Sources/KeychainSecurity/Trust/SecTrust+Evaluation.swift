// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Dispatch
public import Foundation
internal import KeychainModel

/// Judges the certificate.
///
/// The certificate is trusted if a chain of signatures leads from it to an anchor and every policy is met. Authorities are looked for
/// among the certificates that came along, and then in the keychain. Nothing is fetched over the network, and no revocation is looked
/// for.
///
/// - Parameters:
///   - trust: The object. Without a change of its settings it is not evaluated again.
///   - error: The place receives the heaviest flaw of a certificate that is not trusted: an error of `NSOSStatusErrorDomain` with a status
///     such as ``errSecHostNameMismatch``. Its underlying error names all flaws.
/// - Returns: Whether the certificate is trusted.
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let outcome = trust.withState { $0.evaluated() }
    if let failure = outcome.error { error?.pointee = failure }
    return outcome.isTrusted
}

/// Judges the certificate on a queue, as ``SecTrustEvaluateWithError(_:_:)`` does.
///
/// - Parameters:
///   - trust: The object.
///   - queue: The queue on which the function is called, and later the closure.
///   - result: Called once, with the object, whether the certificate is trusted, and the error if it is not.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping (SecTrust, Bool, CFError?) -> Void
) -> OSStatus {
    dispatchPrecondition(condition: .onQueue(queue))
    nonisolated(unsafe) let result = result
    queue.async {
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(trust, &error)
        result(trust, isTrusted, error)
    }
    return errSecSuccess
}

/// Judges the certificate, and gives the outcome alone.
///
/// - Returns: `errSecSuccess`, also for a certificate that is not trusted.
@available(*, deprecated, message: "use SecTrustEvaluateWithError")
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    SecTrustGetTrustResult(trust, result)
}

/// Judges the certificate on a queue, and gives the outcome alone.
///
/// - Parameters:
///   - trust: The object.
///   - queue: The queue on which the closure is called; nil means a global one.
///   - result: Called once.
/// - Returns: `errSecSuccess`.
@available(*, deprecated, message: "use SecTrustEvaluateAsyncWithError")
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping (SecTrust, SecTrustResultType) -> Void
) -> OSStatus {
    nonisolated(unsafe) let result = result
    (queue ?? .global()).async { result(trust, trust.withState { $0.evaluated() }.result) }
    return errSecSuccess
}
