internal import FoundationEssentials

/// The work of one evaluation. The work has a limit, since strangers make the certificates, and costly steps are not
/// done twice.
final class TrustWork {
    /// The work so far, in steps. A step is about as much as to look up one label of a name, or to take apart sixteen
    /// bytes.
    private(set) var steps = 0
    private var signatures: [Link: Bool] = [:]
    private var permissions: [Link: Bool] = [:]
    private var hosts: [String: Bool] = [:]

    private let mostSteps: Int

    init(mostSteps: Int = TrustEvaluation.usualSteps) { self.mostSteps = mostSteps }

    static let stepsOfSignature = 10_000
    /// A chain that is judged, besides the names in it.
    static let stepsOfChain = 10_000
    /// A certificate that is tried as an issuer.
    static let stepsOfIssuer = 1_000

    /// The links compare certificates themselves: the address of an object that is gone may be another certificate's.
    private struct Link: Hashable {
        let certificate: Data
        let issuer: Data

        init(_ certificate: X509Certificate, _ issuer: X509Certificate) {
            (self.certificate, self.issuer) = (certificate.fingerprint, issuer.fingerprint)
        }
    }

    /// From then on nothing that is found out is certain.
    var isUsedUp: Bool { steps > mostSteps }

    func spend(_ steps: Int) { self.steps += steps }
    func useUp() { steps = max(steps, mostSteps + 1) }

    /// Whether the key of an issuer verifies a certificate's signature.
    func isIssued(_ certificate: X509Certificate, by issuer: X509Certificate) -> Bool {
        remembered(Link(certificate, issuer), \.signatures) {
            spend(Self.stepsOfSignature)
            return certificate.signature.isValid(by: issuer.publicKey)
        }
    }

    /// Whether the constraints of an authority permit a certificate's names.
    func permits(
        _ constraints: NameConstraints, of authority: X509Certificate, _ certificate: X509Certificate
    ) -> Bool {
        remembered(Link(certificate, authority), \.permissions) { constraints.permits(certificate, self) }
    }

    /// Whether the certificate that is judged is for a host.
    func isLeaf(_ leaf: X509Certificate, for host: String) -> Bool {
        remembered(host, \.hosts) { HostName.matches(host, leaf, self) }
    }

    private func remembered<Key>(
        _ key: Key, _ place: ReferenceWritableKeyPath<TrustWork, [Key: Bool]>, _ find: () -> Bool
    ) -> Bool {
        if let known = self[keyPath: place][key] { return known }
        guard !isUsedUp else { return false }
        let found = find()
        self[keyPath: place][key] = found
        return found
    }
}
