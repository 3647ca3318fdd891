package import Foundation

/// The certificates that are trusted by themselves.
package struct TrustAnchors: Sendable {
    /// The program's own. nil: only the system's count.
    package var own: [X509Certificate]?
    /// Whether the system's count although the program has its own.
    package var includesSystem: Bool
    private let system: @Sendable () -> AnchorIndex

    /// - Parameter system: Gives the system's, and is asked at each use.
    package init(
        own: [X509Certificate]? = nil, includesSystem: Bool = true, system: @escaping @Sendable () -> AnchorIndex
    ) {
        (self.own, self.includesSystem, self.system) = (own, includesSystem, system)
    }

    package enum Origin: Sendable { case own, system }

    /// The anchors of one evaluation.
    func index() -> (own: AnchorIndex, system: AnchorIndex) {
        (AnchorIndex(own ?? []), includesSystem ? system() : AnchorIndex([]))
    }
}

/// Certificates by their subjects.
package struct AnchorIndex: Sendable {
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

extension X509Certificate {
    /// The names in the form in which they are compared. A name that was read can be written.
    package var subjectName: Data { (try? subject.normalizedContent) ?? Data() }
    package var issuerName: Data { (try? issuer.normalizedContent) ?? Data() }
}
