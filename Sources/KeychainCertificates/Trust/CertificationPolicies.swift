internal import SwiftASN1

/// Whether a chain was issued under the policies that its authorities demand (RFC 5280, section 6.1).
///
/// The caller has no policies of its own, so that of the tree of policies only the lowest row is needed: the policies that are still
/// valid for the certificate in hand, in its own terms.
struct CertificationPolicies {
    private(set) var flaw: TrustFlaw?

    private var valid: Set<ASN1ObjectIdentifier> = [.anyPolicy]
    /// How many certificates may follow until a policy is needed, "any" counts no longer, and policies are not mapped.
    private var explicit: Int
    private var inhibitAny: Int
    private var mapping: Int

    /// - Parameter certificates: The leaf first, without the anchor.
    init(_ certificates: ArraySlice<X509Certificate>) {
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
        guard let policies = certificate.extensions.policies?.identifiers else { return valid = [] }
        let isAny = policies.contains(.anyPolicy) && (inhibitAny > 0 || (certificate.isSelfIssued && !isLeaf))
        let named = policies.subtracting([.anyPolicy])
        let kept = valid.contains(.anyPolicy) ? named : named.intersection(valid)
        valid = isAny ? valid.union(kept) : kept
    }

    private mutating func prepare(for certificate: X509Certificate) {
        var (mapped, removed): (Set<ASN1ObjectIdentifier>, Set<ASN1ObjectIdentifier>) = ([], [])
        for (issuer, subject) in certificate.extensions.policyMappings?.pairs ?? [] {
            if mapping > 0, valid.contains(issuer) || valid.contains(.anyPolicy) { mapped.insert(subject) }
            removed.insert(issuer)
        }
        valid = valid.subtracting(removed).union(mapped)
        if !certificate.isSelfIssued { countDown() }
        let constraints = certificate.extensions.policyConstraints
        explicit = min(explicit, constraints?.requireExplicit ?? explicit)
        mapping = min(mapping, constraints?.inhibitMapping ?? mapping)
        inhibitAny = min(inhibitAny, certificate.extensions.inhibitAnyPolicy ?? inhibitAny)
    }

    private mutating func countDown() {
        (explicit, mapping, inhibitAny) = (max(0, explicit - 1), max(0, mapping - 1), max(0, inhibitAny - 1))
    }

    private mutating func finish(_ leaf: X509Certificate) {
        if !leaf.isSelfIssued { explicit = max(0, explicit - 1) }
        if leaf.extensions.policyConstraints?.requireExplicit == 0 { explicit = 0 }
        if explicit == 0 && valid.isEmpty { flaw = TrustFlaw(.policyConstraints, at: 0) }
    }
}
