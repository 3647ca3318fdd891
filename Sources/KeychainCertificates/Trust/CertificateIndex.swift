internal import Foundation

/// Certificates by their subjects.
package struct CertificateIndex: Sendable {
    private let bySubject: [Data: [X509Certificate]]

    package init(_ certificates: [X509Certificate]) {
        bySubject = Dictionary(grouping: certificates) { $0.subjectName }
    }

    package var isEmpty: Bool { bySubject.isEmpty }
    package var count: Int { bySubject.values.reduce(0) { $0 + $1.count } }

    func contains(_ certificate: X509Certificate) -> Bool {
        bySubject[certificate.subjectName]?.contains { $0.der == certificate.der } ?? false
    }

    func certificates(named name: Data) -> [X509Certificate] { bySubject[name] ?? [] }
}
