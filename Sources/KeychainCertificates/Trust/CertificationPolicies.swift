internal import SwiftASN1

/// Whether a chain was issued under the policies that its authorities demand (RFC 5280, section 6.1).
///
/// The caller has no policies of its own, so only the lowest row of the tree of policies is needed: the policies that
/// are still valid for the certificate in hand, in its own terms.
struct CertificationPolicies {
    private(set) var flaw: TrustFlaw?

    private var valid: Set<ASN1ObjectIdentifier> = [.anyPolicy]
    /// How many certificates may follow until a policy is needed, "any" counts no longer, and policies are not mapped.
    private var explicit: Int
    private var inhibitAny: Int
    private var mapping: Int

    private let work: TrustWork

    /// - Parameters:
    ///   - certificates: The leaf first, without the anchor.
    ///   - work: Counts the policies that are looked at.
    init(_ certificates: ArraySlice<X509Certificate>, _ work: TrustWork) {
        self.work = work
        (explicit, inhibitAny, mapping) = (certificates.count + 1, certificates.count + 1, certificates.count + 1)
        for position in certificates.indices.reversed() {
            let certificate = certificates[position]
            narrow(certificate, isLeaf: position == 0)
            if explicit == 0 && valid.isEmpty { flaw = TrustFlaw(.policyConstraints, at: position) }
            if flaw != nil { return }
            if position > 0 { prepare(for: certificate) } else { finish(certificate) }
        }
    }

    private mutating func narrow(_ certificate: X509Certificate, isLeaf: Bool) {
        let policies: Set<ASN1ObjectIdentifier> = certificate.extensions.policies.reading(
            absent: [], unreadable: [], \.identifiers)
        work.spend(policies.count + valid.count)
        let isAny = policies.contains(.anyPolicy) && (inhibitAny > 0 || (certificate.isSelfIssued && !isLeaf))
        let named = policies.subtracting([.anyPolicy])
        let kept = valid.contains(.anyPolicy) ? named : named.intersection(valid)
        valid = isAny ? valid.union(kept) : kept
    }

    private mutating func prepare(for certificate: X509Certificate) {
        map(certificate)
        if !certificate.isSelfIssued { countDown() }
        let (explicitBelow, mappingBelow) = certificate.extensions.policyConstraints.reading(
            absent: (nil, nil), unreadable: (0, 0)
        ) { ($0.requireExplicit, $0.inhibitMapping) }
        explicit = min(explicit, explicitBelow ?? explicit)
        mapping = min(mapping, mappingBelow ?? mapping)
        inhibitAny = certificate.extensions.inhibitAnyPolicy.reading(absent: inhibitAny, unreadable: 0) {
            min(inhibitAny, $0.value)
        }
    }

    private mutating func map(_ certificate: X509Certificate) {
        guard let pairs = certificate.extensions.policyMappings.reading(absent: [], unreadable: nil, { $0.pairs })
        else { return valid = [] }
        work.spend(pairs.count)
        var (mapped, removed): (Set<ASN1ObjectIdentifier>, Set<ASN1ObjectIdentifier>) = ([], [])
        for (issuer, subject) in pairs {
            if mapping > 0, valid.contains(issuer) || valid.contains(.anyPolicy) { mapped.insert(subject) }
            removed.insert(issuer)
        }
        valid = valid.subtracting(removed).union(mapped)
    }

    private mutating func countDown() {
        (explicit, mapping, inhibitAny) = (max(0, explicit - 1), max(0, mapping - 1), max(0, inhibitAny - 1))
    }

    private mutating func finish(_ leaf: X509Certificate) {
        explicit = max(0, explicit - 1)
        let demandsPolicy = leaf.extensions.policyConstraints.reading(absent: false, unreadable: true) {
            $0.requireExplicit == 0
        }
        if demandsPolicy { explicit = 0 }
        if explicit == 0 && valid.isEmpty { flaw = TrustFlaw(.policyConstraints, at: 0) }
    }
}
