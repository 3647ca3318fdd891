public import Foundation

// MARK: Policies

/// The policy of ``SecPolicyCreateBasicX509()``.
nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"
/// The policy of ``SecPolicyCreateSSL(_:_:)``.
nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"
/// A policy for mail, which this keychain does not have.
nonisolated(unsafe) public let kSecPolicyAppleSMIME: CFString = "1.2.840.113635.100.1.8"
/// A policy for EAP, which this keychain does not have.
nonisolated(unsafe) public let kSecPolicyAppleEAP: CFString = "1.2.840.113635.100.1.9"
/// A policy for IPsec, which this keychain does not have.
nonisolated(unsafe) public let kSecPolicyAppleIPsec: CFString = "1.2.840.113635.100.1.11"
/// A policy for signed code, which this keychain does not have.
nonisolated(unsafe) public let kSecPolicyAppleCodeSigning: CFString = "1.2.840.113635.100.1.16"
/// A policy for time stamps, which this keychain does not have.
nonisolated(unsafe) public let kSecPolicyAppleTimeStamping: CFString = "1.2.840.113635.100.1.20"
/// The policy of ``SecPolicyCreateRevocation(_:)``.
nonisolated(unsafe) public let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"

/// A key of ``SecPolicyCopyProperties(_:)`` for the policy's identifier, as text.
nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"
/// A key of ``SecPolicyCopyProperties(_:)`` for the host, as text.
nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"
/// A key of ``SecPolicyCopyProperties(_:)`` that says whether the peer is a client of TLS, as a Boolean.
nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"
/// A key of ``SecPolicyCopyProperties(_:)`` for the flags of ``SecPolicyCreateRevocation(_:)``, as a number.
nonisolated(unsafe) public let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"

/// Ask the authority's server for the state of the certificate. Nothing is asked here.
public let kSecRevocationOCSPMethod: CFOptionFlags = 1
/// Fetch the authority's list of revoked certificates. Nothing is fetched here.
public let kSecRevocationCRLMethod: CFOptionFlags = 2
/// Prefer the list to the server. Neither is asked here.
public let kSecRevocationPreferCRL: CFOptionFlags = 4
/// Do not trust a certificate without proof that it was not revoked. There is none here, so that no certificate is trusted.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 8
/// Use the information that is there, without the network, which is always so here.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 16
/// Use either method.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = 3

// MARK: Results

/// A key of ``SecTrustCopyResult(_:)`` for the moment of the evaluation, as a date.
nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// A key of ``SecTrustCopyResult(_:)`` for the raw value of the ``SecTrustResultType``.
nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"
/// A key of Apple's ``SecTrustCopyResult(_:)`` that says whether the certificate is of extended validation. It is never
/// there here.
nonisolated(unsafe) public let kSecTrustExtendedValidation: CFString = "TrustExtendedValidation"
/// A key of Apple's ``SecTrustCopyResult(_:)`` for the organisation of extended validation. It is never there here.
nonisolated(unsafe) public let kSecTrustOrganizationName: CFString = "Organization"
/// A key of Apple's ``SecTrustCopyResult(_:)`` that says whether a revocation was looked for. It is never there here.
nonisolated(unsafe) public let kSecTrustRevocationChecked: CFString = "TrustRevocationChecked"
/// A key of Apple's ``SecTrustCopyResult(_:)`` for the time until which the answer about a revocation holds. It is
/// never there here.
nonisolated(unsafe) public let kSecTrustRevocationValidUntilDate: CFString = "TrustExpirationDate"
/// A key of Apple's ``SecTrustCopyResult(_:)`` that says whether the certificate is in public logs. It is never there
/// here.
nonisolated(unsafe) public let kSecTrustCertificateTransparency: CFString = "TrustCertificateTransparency"

/// A key of ``SecTrustCopyProperties(_:)`` for the certificate's summary, as text.
nonisolated(unsafe) public let kSecPropertyTypeTitle: CFString = "title"
/// A key of ``SecTrustCopyProperties(_:)`` for the reason for which the certificate is not trusted, as text.
nonisolated(unsafe) public let kSecPropertyTypeError: CFString = "error"
