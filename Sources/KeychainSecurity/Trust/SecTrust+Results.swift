// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// Gives the outcome of the evaluation, which is made if there was none.
///
/// - Returns: `errSecSuccess`, also for a certificate that is not trusted.
@discardableResult
public func SecTrustGetTrustResult(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    result.pointee = trust.withState { $0.evaluated() }.result
    return errSecSuccess
}

/// Returns the public key of the certificate that is judged, whether it is trusted or not.
///
/// - Returns: The key, or nil as of ``SecCertificateCopyKey(_:)``.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    SecCertificateCopyKey(trust.withState { $0.certificates[0] })
}

/// Returns the public key of the certificate that is judged, as ``SecTrustCopyKey(_:)`` does.
@available(*, deprecated, message: "use SecTrustCopyKey")
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

/// Returns the number of certificates in the chain, which is at least one.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex {
    trust.withState { $0.evaluated() }.chain.count
}

/// Returns a certificate of the chain.
///
/// - Parameters:
///   - trust: The object.
///   - ix: 0 for the certificate that is judged, 1 for its authority, and so on.
/// - Returns: The certificate, or nil beyond the end of the chain.
@available(*, deprecated, message: "use SecTrustCopyCertificateChain")
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    trust.withState { state in
        // The leaf is known without any evaluation.
        if ix == 0 { return state.certificates[0] }
        let chain = state.evaluated().chain
        return chain.indices.contains(ix) ? chain[ix] : nil
    }
}

/// Returns the chain from the certificate that is judged to the anchor. If it is not trusted, it is the best chain that was found.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    trust.withState { $0.evaluated() }.chain as NSArray
}

/// Returns what came out, as a dictionary: the moment (``kSecTrustEvaluationDate``), the outcome (``kSecTrustResultValue``), and under
/// `TrustResultDetails` a dictionary for each certificate, with the names of the checks that failed.
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    let outcome = trust.withState { $0.evaluated() }
    let details = outcome.chain.indices.map { position in
        let failed = outcome.remaining.filter { $0.position == position }
        return Dictionary(uniqueKeysWithValues: failed.map { ($0.reason.rawValue, NSNumber(value: false)) })
    }
    return [
        kSecTrustEvaluationDate: outcome.date as NSDate,
        kSecTrustResultValue: NSNumber(value: outcome.result.rawValue),
        "TrustResultDetails" as NSString: details as NSArray,
    ] as NSDictionary
}

/// Returns texts for a person: for each certificate of the chain a dictionary with its name (``kSecPropertyTypeTitle``) and the heaviest reason
/// for which it is not trusted, if there is one (``kSecPropertyTypeError``).
public func SecTrustCopyProperties(_ trust: SecTrust) -> CFArray? {
    let outcome = trust.withState { $0.evaluated() }
    let properties = outcome.chain.enumerated().map { position, certificate in
        var texts: [NSString: NSString] = [:]
        texts[kSecPropertyTypeTitle] = certificate.contents.summary.map { $0 as NSString }
        let flaw = outcome.remaining.first { $0.position == position }
        texts[kSecPropertyTypeError] = flaw.map { outcome.sentence($0) as NSString }
        return texts as NSDictionary
    }
    return properties as NSArray
}

// MARK: - Exceptions

/// Returns data with which ``SecTrustSetExceptions(_:_:)`` excuses the flaws of this chain. The object itself stays as it is.
///
/// - Returns: Bytes without a documented form. Fatal flaws are not among them.
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    let outcome = trust.withState { $0.evaluated() }
    return (try? TrustExceptions.data(for: outcome)).map { NSData(data: $0) }
}

/// Excuses flaws that a person has accepted. A chain without others is trusted, with the outcome ``SecTrustResultType/proceed``.
///
/// The flaws of the same certificates alone are excused, and none that is fatal.
///
/// - Parameters:
///   - trust: The object, which forgets what came out before.
///   - exceptions: Data of ``SecTrustCopyExceptions(_:)``. nil takes back what was set.
/// - Returns: Whether the data is for this certificate. Other data takes back what was set as well. With nil: whether nothing was set.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    trust.withState { state in
        let hadNone = state.exceptions == nil
        let new = exceptions.flatMap { TrustExceptions(Data(copying: $0), for: state.certificates[0]) }
        state.set(\.exceptions, new)
        return exceptions == nil ? hadNone : new != nil
    }
}
