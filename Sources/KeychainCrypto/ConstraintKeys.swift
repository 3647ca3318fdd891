package import FoundationEssentials

/// The pair of keys that opens secrets sealed for a ``ConsentPair``. The pair lives for one request.
package struct ConsentKey: Sendable {
    package let publicKey: Data
    package let privateKey: KeyMaterial

    package init(publicKey: Data, privateKey: KeyMaterial) {
        self.publicKey = publicKey
        self.privateKey = privateKey
    }
}

/// The keys of the passcode and the application password that a caller has shown, which are part of the key of a secret
/// (docs/store-format.md, "Constrained secrets").
package struct ConstraintKeys: Sendable {
    /// For sealing: the store's public key; nil: the store has none.
    package var consentPublicKey: Data?
    /// nil: the passcode was not shown.
    package var consent: ConsentKey?
    /// nil: no application password was shown.
    package var applicationPassword: ApplicationPasswordKey?

    package init(
        consentPublicKey: Data? = nil, consent: ConsentKey? = nil, applicationPassword: ApplicationPasswordKey? = nil
    ) {
        self.consentPublicKey = consentPublicKey
        self.consent = consent
        self.applicationPassword = applicationPassword
    }
}
