// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// The object is a set of rules by which a ``SecTrust`` judges certificates.
///
/// Two policies are equal if their rules are.
public final class SecPolicy: NSObject, @unchecked Sendable {  // immutable
    let policy: TrustPolicy

    init(_ policy: TrustPolicy) {
        self.policy = policy
        super.init()
    }

    /// Two policies are equal if their rules are.
    override public func isEqual(_ object: Any?) -> Bool { (object as? SecPolicy)?.policy == policy }

    /// Equal policies have equal hashes within one process.
    override public var hash: Int { policy.hashValue }

    /// The text names the rules, for logs.
    override public var description: String { "<SecPolicy: \(policy)>" }
}

/// Makes the policy that looks at the chain alone: signatures, dates, authorities and their constraints (RFC 5280).
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// Makes the policy for the peer of a TLS connection. It includes all that ``SecPolicyCreateBasicX509()`` looks at.
///
/// - Parameters:
///   - server: Whether the peer is a server. Its certificate has to be meant for servers, needs an RSA key of at least 2,048 bits or one
///     on a curve of at least 255, no SHA-1, and since July 2019 a purpose and a validity of at most 825 days.
///   - hostname: The host that the certificate has to be for: a DNS name or an address. Its alternative names alone
///     count. nil leaves the host out of it, and an empty text is no certificate's name.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    let host = hostname.map { $0 as String }
    return SecPolicy(server ? .server(host: host) : .client(host: host))
}

/// Makes the policy for revoked certificates.
///
/// This keychain asks no server over the network. The policy changes an evaluation only if it wants a positive answer
/// (``kSecRevocationRequirePositiveResponse``), which never comes.
///
/// - Parameter revocationFlags: Some of the numbers that begin with `kSecRevocation`, combined.
/// - Returns: The policy, or nil for 0 and for numbers that are not defined.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    let flags = TrustPolicy.Revocation(rawValue: revocationFlags)
    guard !flags.isEmpty, flags.isSubset(of: .known) else { return nil }
    return SecPolicy(.revocation(flags))
}

/// Makes the policy of an object identifier.
///
/// - Parameters:
///   - policyIdentifier: ``kSecPolicyAppleX509Basic``, ``kSecPolicyAppleSSL`` or ``kSecPolicyAppleRevocation``.
///   - properties: The properties of such a policy as ``SecPolicyCopyProperties(_:)`` gives them, without the
///     identifier.
/// - Returns: The policy, or nil for another identifier and for properties of the wrong type.
public func SecPolicyCreateWithProperties(_ policyIdentifier: CFTypeRef, _ properties: CFDictionary?) -> SecPolicy? {
    let name = properties?[kSecPolicyName]
    let isClient = properties?[kSecPolicyClient]
    let flags = properties?[kSecPolicyRevocationFlags]
    switch policyIdentifier as? NSString {
    case kSecPolicyAppleX509Basic: return SecPolicyCreateBasicX509()
    case kSecPolicyAppleSSL:
        guard name == nil || name is NSString, isClient == nil || isClient is NSNumber else { return nil }
        return SecPolicyCreateSSL(!((isClient as? NSNumber)?.boolValue ?? false), name as? NSString)
    case kSecPolicyAppleRevocation: return (flags as? NSNumber).flatMap { SecPolicyCreateRevocation($0.uintValue) }
    default: return nil
    }
}

/// Returns the identifier of a policy (``kSecPolicyOid``), and of a policy for TLS the host (``kSecPolicyName``) and whether it is for clients
/// (``kSecPolicyClient``, only if it is).
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    let properties = NSMutableDictionary()
    switch policyRef.policy {
    case .basic: properties[kSecPolicyOid] = kSecPolicyAppleX509Basic
    case .server, .client:
        properties[kSecPolicyOid] = kSecPolicyAppleSSL
        if let host = policyRef.policy.host { properties[kSecPolicyName] = host as NSString }
        if policyRef.policy.isClient { properties[kSecPolicyClient] = NSNumber(value: true) }
    case .revocation(let flags):
        properties[kSecPolicyOid] = kSecPolicyAppleRevocation
        properties[kSecPolicyRevocationFlags] = NSNumber(value: flags.rawValue)
    }
    return properties
}
