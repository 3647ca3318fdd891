package import KeychainKeys

/// The keys and certificates of a PKCS#12 file, in its order.
package struct PKCS12Content: Sendable {
    package var keys: [(key: AsymmetricKey, mark: PKCS12Mark)] = []
    package var certificates: [(certificate: X509Certificate, mark: PKCS12Mark)] = []

    package init() {}

    /// Each key that has its certificate in the file. The marks of a file may join a key and a certificate. They choose
    /// among certificates of the key; they do not make a certificate another key's.
    package var identities: [(key: AsymmetricKey, certificate: X509Certificate, mark: PKCS12Mark)] {
        keys.compactMap { key, mark in
            let label = key.label
            let own = certificates.filter { $0.certificate.publicKeyHash == label }
            let paired =
                own.first { $0.mark.identifier != nil && $0.mark.identifier == mark.identifier }
                ?? own.first { $0.mark.name != nil && $0.mark.name == mark.name } ?? own.first
            return paired.map { (key, $0.certificate, mark) }
        }
    }
}
