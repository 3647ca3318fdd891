/// A reason for which a chain of certificates is not trusted.
package struct TrustFlaw: Sendable, Hashable {
    package let reason: Reason
    /// The place of the certificate in the chain, whose leaf is 0.
    package let position: Int

    package init(_ reason: Reason, at position: Int) { (self.reason, self.position) = (reason, position) }

    /// The reasons in the order of their weight, under Apple's names of the checks, if Apple has the check.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        case tooMuchWork = "EvaluationLimit"
        case unknownKey = "KeyKind"
        case weakKey = "WeakKeySize"
        case smallKey = "KeySize"
        case brokenDigest = "WeakSignature"
        case formerDigest = "SignatureHashAlgorithms"
        case noBasicConstraints = "BasicConstraints"
        case noAuthority = "BasicConstraintsCA"
        case noSigningOfCertificates = "KeyUsage"
        case tooManyIntermediates = "BasicConstraintsPathLen"
        case emptySubject = "NonEmptySubject"
        case otherKeyIdentifier = "IdLinkage"
        case unknownCriticalExtension = "CriticalExtensions"
        case nameConstraints = "NameConstraints"
        case policyConstraints = "PolicyConstraints"
        case unreadableExtension = "UnparseableExtension"
        case duplicateExtension = "DuplicateExtension"
        case longValidity = "ValidityPeriodMaximums"
        case longChain = "ChainLength"
        case revocationUnknown = "RevocationResponseRequired"
        case untrustedRoot = "AnchorTrusted"
        case missingIssuer = "MissingIntermediate"
        case otherPurpose = "ExtendedKeyUsage"
        case otherHost = "SSLHostname"
        case date = "TemporalValidity"
    }
}

extension TrustFlaw.Reason {
    /// Whether no exception excuses the flaw.
    package var isFatal: Bool {
        switch self {
        case .tooMuchWork, .unknownKey, .weakKey, .brokenDigest: true
        default: false
        }
    }

    /// Apple's status of the reason.
    package var status: Int32 {
        switch self {
        // Apple has no such limit: the status is that of a quota in its keychain.
        case .tooMuchWork: -67596
        case .unknownKey, .weakKey, .smallKey: -67735
        case .brokenDigest, .formerDigest: -67815
        case .noBasicConstraints: -67604
        case .noAuthority, .noSigningOfCertificates: -67605
        case .tooManyIntermediates, .longChain: -67611
        case .emptySubject: -67655
        case .otherKeyIdentifier: -67610
        case .unknownCriticalExtension: -67603
        case .nameConstraints: -67689
        case .policyConstraints: -67835
        case .unreadableExtension: -67618
        case .duplicateExtension: -67903
        case .longValidity: -67901
        case .revocationUnknown: -67635
        case .untrustedRoot: -67843
        case .missingIssuer: -25318
        case .otherPurpose: -67609
        case .otherHost: -67602
        case .date: -67818
        }
    }

    /// The rank of the reason's class. Among flaws of one class the one that is nearest to the leaf comes first.
    fileprivate var weight: Int {
        switch self {
        case .tooMuchWork: 0
        case .unknownKey, .weakKey, .smallKey: 1
        case .brokenDigest, .formerDigest: 2
        case .noBasicConstraints, .noAuthority, .noSigningOfCertificates, .tooManyIntermediates, .emptySubject,
            .otherKeyIdentifier, .unknownCriticalExtension, .nameConstraints, .policyConstraints,
            .unreadableExtension, .duplicateExtension, .longValidity:
            3
        case .longChain, .revocationUnknown: 4
        case .untrustedRoot, .missingIssuer: 5
        case .otherPurpose: 6
        case .otherHost: 7
        case .date: 8
        }
    }

    /// The flaw in words, after the certificate's name.
    package var explanation: String {
        switch self {
        case .tooMuchWork: "comes with more names and authorities than are judged"
        case .unknownKey: "has a key of a kind that is not known here"
        case .weakKey: "has a key so small that it protects nothing"
        case .smallKey: "has a key that is too small for a server"
        case .brokenDigest: "is signed with a hash function that is broken"
        case .formerDigest: "is signed with SHA-1, which no server's certificate may be"
        case .noBasicConstraints: "does not say that it is an authority's"
        case .noAuthority: "is no authority's"
        case .noSigningOfCertificates: "has a key that is not meant to sign certificates"
        case .tooManyIntermediates: "does not permit so many authorities below it"
        case .emptySubject: "names no subject"
        case .otherKeyIdentifier: "names another key of its issuer than the one that signed it"
        case .unknownCriticalExtension: "has a critical extension that is not known here"
        case .nameConstraints: "has a name that an authority above it may not certify"
        case .policyConstraints: "is issued under none of the policies that an authority above it demands"
        case .unreadableExtension: "has an extension that cannot be read"
        case .duplicateExtension: "has an extension twice"
        case .longValidity: "is valid for longer than 825 days"
        case .longChain: "has a chain of more than 15 certificates"
        case .revocationUnknown: "comes without proof that it was not revoked"
        case .untrustedRoot: "is not among the trusted roots"
        case .missingIssuer: "is issued by an authority that was not found"
        case .otherPurpose: "is meant for another purpose"
        case .otherHost: "is for other hosts"
        case .date: "has expired, or is not valid yet"
        }
    }
}

extension TrustFlaw: Comparable {
    package static func < (one: TrustFlaw, other: TrustFlaw) -> Bool {
        func rank(_ flaw: TrustFlaw) -> (Int, Int, Int) {
            (flaw.reason.weight, flaw.position, Reason.allCases.firstIndex(of: flaw.reason)!)
        }
        return rank(one) < rank(other)
    }
}
