// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainModel
internal import Synchronization

/// The object judges a certificate, with the certificates that came along with it.
///
/// It may be used from several threads at once: they wait for each other.
public final class SecTrust: NSObject, Sendable {
    private let state: Mutex<TrustState>

    init(_ state: TrustState) { self.state = Mutex(state) }

    func withState<Result: Sendable>(_ body: (inout TrustState) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    /// Changes a setting. The former result counts no longer.
    func set<Value>(_ setting: WritableKeyPath<TrustState, Value>, _ value: Value) {
        withState { $0.set(setting, value) }
    }

    /// The text names the certificate's subject, for logs.
    override public var description: String { "<SecTrust: \(withState { $0.certificates[0] })>" }
}

/// Makes an object that judges a certificate.
///
/// - Parameters:
///   - certificates: A ``SecCertificate``, or an array of them: first the one that is judged, then those that may be its authorities, in
///     any order.
///   - policies: A ``SecPolicy`` or an array of them, which all have to be met. nil means ``SecPolicyCreateBasicX509()``.
///   - trust: The place receives the object. It stays untouched after a failure.
/// - Returns: `errSecSuccess`, or ``errSecParam`` for an empty array and for anything else.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    guard let certificates: [SecCertificate] = objects(certificates), !certificates.isEmpty,
        let policies: [SecPolicy] = policies.map({ objects($0) }) ?? [SecPolicyCreateBasicX509()]
    else { return errSecParam }
    let atLeastOne = policies.isEmpty ? [SecPolicyCreateBasicX509()] : policies
    trust.pointee = SecTrust(TrustState(certificates, atLeastOne, .current))
    return errSecSuccess
}

/// - Returns: the object alone or the objects of an array; nil if one is of another type.
private func objects<Object: AnyObject>(_ value: CFTypeRef) -> [Object]? {
    if let object = value as? Object { return [object] }
    guard let array = value as? NSArray else { return nil }
    let objects = array.compactMap { $0 as? Object }
    return objects.count == array.count ? objects : nil
}

// MARK: - Settings

/// Changes the policies.
///
/// - Parameters:
///   - trust: The object, which forgets what came out before.
///   - policies: A ``SecPolicy``, or an array of them that is not empty.
/// - Returns: `errSecSuccess`, or ``errSecParam`` for anything else.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let policies: [SecPolicy] = objects(policies), !policies.isEmpty else { return errSecParam }
    trust.set(\.policies, policies)
    return errSecSuccess
}

/// Gives the policies.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = trust.withState { $0.policies } as NSArray
    return errSecSuccess
}

/// Sets the certificates that are trusted by themselves. From then on the system's do not count.
///
/// - Parameters:
///   - trust: The object, which forgets what came out before.
///   - anchorCertificates: ``SecCertificate`` objects. With none of them nothing is trusted. nil means the system's again.
/// - Returns: `errSecSuccess`, or ``errSecParam`` if something in the array is no certificate; then nothing is changed.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    var anchors: [SecCertificate]?
    if let anchorCertificates {
        guard let certificates: [SecCertificate] = objects(anchorCertificates) else { return errSecParam }
        anchors = certificates
    }
    trust.withState { state in
        state.set(\.anchors, anchors)
        state.set(\.usesAnchorsOnly, anchors != nil)
    }
    return errSecSuccess
}

/// Says whether only the anchors of ``SecTrustSetAnchorCertificates(_:_:)`` count, or the system's as well.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.set(\.usesAnchorsOnly, anchorCertificatesOnly)
    return errSecSuccess
}

/// Gives the anchors that were set, or nil if none were.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    anchors.pointee = trust.withState { $0.anchors } as NSArray?
    return errSecSuccess
}

/// Sets the moment for which the certificates are judged.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.set(\.date, verifyDate as Date)
    return errSecSuccess
}

/// Returns the moment for which the certificates are judged, in seconds since 2001. If none was set, it is set to now.
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    trust.withState { state in
        let date = state.date ?? Date()
        if state.date == nil { state.set(\.date, date) }
        return date.timeIntervalSinceReferenceDate
    }
}

/// Says whether certificates and answers may be fetched. Nothing is ever fetched here, so that it has no effect.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.set(\.fetchesFromNetwork, allowFetch)
    return errSecSuccess
}

/// Gives the setting of ``SecTrustSetNetworkFetchAllowed(_:_:)``, which is true by default if a policy is for TLS.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(
    _ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    allowFetch.pointee = DarwinBoolean(
        trust.withState { state in
            state.fetchesFromNetwork ?? state.policies.contains { !$0.policy.needsChain }
        })
    return errSecSuccess
}

/// Takes the answers of an authority's server that came along. They are not read: a certificate is never found to be revoked here.
///
/// - Parameters:
///   - trust: The object, which forgets what came out before.
///   - responseData: Data, or an array of data; nil for none.
/// - Returns: `errSecSuccess`, or ``errSecParam`` for anything else.
@discardableResult
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    if let responseData {
        guard let _: [NSData] = objects(responseData) else { return errSecParam }
    }
    trust.withState { $0.forget() }
    return errSecSuccess
}

/// Takes the proofs that a certificate is in public logs. They are not read.
///
/// - Parameters:
///   - trust: The object, which forgets what came out before.
///   - sctArray: Data objects; nil for none.
/// - Returns: `errSecSuccess`, or ``errSecParam`` for anything else.
@discardableResult
public func SecTrustSetSignedCertificateTimestamps(_ trust: SecTrust, _ sctArray: CFArray?) -> OSStatus {
    SecTrustSetOCSPResponse(trust, sctArray)
}
