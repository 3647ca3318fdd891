/// The certificates that are trusted by themselves.
package struct TrustAnchors: Sendable {
    /// The program's own. nil: only the system's count.
    package var own: [X509Certificate]?
    /// Whether the system's count although the program has its own.
    package var includesSystem: Bool
    private let system: @Sendable () -> CertificateIndex

    /// - Parameter system: Gives the system's, and is asked at each use.
    package init(
        own: [X509Certificate]? = nil, includesSystem: Bool = true, system: @escaping @Sendable () -> CertificateIndex
    ) {
        (self.own, self.includesSystem, self.system) = (own, includesSystem, system)
    }

    func index() -> (own: CertificateIndex, system: CertificateIndex) {
        (CertificateIndex(own ?? []), includesSystem ? system() : CertificateIndex([]))
    }
}
