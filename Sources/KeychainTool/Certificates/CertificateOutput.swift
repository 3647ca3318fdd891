internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainKeys
internal import KeychainModel

/// The form in which `get` writes a key, a certificate or an identity.
enum OutputForm: String, CaseIterable, ExpressibleByArgument {
    case raw, pem, der, spki, ssh, jwk, pkcs12

    /// nil: keys have no such form.
    var ofKey: KeyFileFormat? { KeyFileFormat(rawValue: rawValue) }

    /// - Throws: a mistake on the command line, if items of the class have no such form.
    func validate(for itemClass: ItemClass) throws {
        let forms: [OutputForm] =
            switch itemClass {
            case .key: [.raw, .pem, .der, .spki, .ssh, .jwk]
            case .certificate: [.raw, .der, .pem, .pkcs12]
            case .identity: [.pem, .pkcs12]
            case .genericPassword, .internetPassword: [.raw]
            }
        if forms.contains(self) { return }
        if itemClass == .identity {
            throw ValidationError(
                "An identity has no bytes of its own: write it with --format pem or pkcs12, or get its certificate or its key."
            )
        }
        guard forms.count > 1 else {
            throw ValidationError("--format and --public say nothing about a \(itemClass.title).")
        }
        throw ValidationError(
            "A \(itemClass.title) has no form \(rawValue), but \(forms.map(\.rawValue).joined(separator: ", ")).")
    }
}

enum CertificateOutput {
    /// - Parameter readPassphrase: Asks for the passphrase of a PKCS#12 file.
    static func bytes(
        of certificate: X509Certificate, _ form: OutputForm, _ readPassphrase: () throws -> SecretBytes
    ) throws -> Data {
        switch form {
        case .pem: return Data(PEMBlock.text("CERTIFICATE", certificate.der).utf8)
        case .pkcs12:
            var content = PKCS12Content()
            content.certificates = [(certificate, PKCS12Mark(name: certificate.summary))]
            return try content.file(try readPassphrase())
        default: return certificate.der
        }
    }

    /// The certificate, its issuers as far as the keychain has them, and the key.
    static func bytes(
        ofIdentity item: Item, _ form: OutputForm, _ session: KeychainSession,
        _ readPassphrase: () throws -> SecretBytes
    ) throws -> Data {
        // Only a key in the engine has that attribute.
        guard item.attributes[.tokenObjectID] == nil else { throw KeychainError.keyStaysInEngine }
        let key = try AsymmetricKey(item.attributes, item.secret)
        let certificate = try X509Certificate(stored: item.certificate)
        let chain = IssuerChain.chain(of: certificate, among: try session.certificates())
        if form == .pem {
            let texts = chain.map { PEMBlock.text("CERTIFICATE", $0.der) }
            return Data(texts.joined().utf8) + (try KeyFileFormat.pem.bytes(of: key))
        }
        var content = PKCS12Content()
        let mark = PKCS12Mark(name: certificate.summary, identifier: key.label)
        content.keys = [(key, mark)]
        content.certificates = chain.enumerated().map { ($1, $0 == 0 ? mark : PKCS12Mark()) }
        return try content.file(try readPassphrase())
    }
}

extension X509Certificate {
    /// - Throws: `.decode` if the bytes of an item are no certificate.
    convenience init(stored bytes: SecretBytes?) throws {
        do {
            try self.init(bytes?.copyData() ?? Data())
        } catch {
            throw KeychainError(
                .decode, message: "the item's bytes are no certificate, and can only be read as they are", cause: error)
        }
    }
}
