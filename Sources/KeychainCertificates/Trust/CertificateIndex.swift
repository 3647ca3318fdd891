/// Certificates by their subjects.
package struct CertificateIndex: Sendable {
    private let bySubject: [ComparableName: [X509Certificate]]

    package init(_ certificates: [X509Certificate]) {
        bySubject = Dictionary(grouping: certificates) { $0.subject.comparable }
    }

    package var isEmpty: Bool { bySubject.isEmpty }
    package var count: Int { bySubject.values.reduce(0) { $0 + $1.count } }

    func contains(_ certificate: X509Certificate) -> Bool {
        bySubject[certificate.subject.comparable]?.contains { $0.fingerprint == certificate.fingerprint } ?? false
    }

    func certificates(named name: DistinguishedName) -> [X509Certificate] { bySubject[name.comparable] ?? [] }
}
