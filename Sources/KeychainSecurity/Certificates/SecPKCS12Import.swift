// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// Reads the identities of a PKCS#12 file.
///
/// Nothing is stored, unless `kSecUseDataProtectionKeychain` is true: then the keys and certificates are added to the
/// keychain's first group in one transaction. Keys and certificates that are there already are no failure.
///
/// Files of OpenSSL 1 and 3, macOS, Windows, Java and Firefox open: codes with SHA-1 and SHA-2 and PBMAC1, the ciphers of
/// PKCS#12, and PBES2 with AES and Triple DES. Keys are RSA keys and keys on P-256, P-384 and P-521. The call takes as long
/// as the file's derivations of keys do.
///
/// - Parameters:
///   - pkcs12_data: The file's content, of at most 4 MiB.
///   - options: The passphrase under ``kSecImportExportPassphrase``.
///   - items: The place receives an array with one dictionary for each key that has its certificate in the file: see
///     ``kSecImportItemIdentity``. The array is empty for a file of certificates alone. The place stays untouched after a
///     failure.
/// - Returns: `errSecSuccess`, or one of these statuses:
///   - `errSecAuthFailed` stands for a wrong or missing passphrase, and for a file without a code.
///   - `errSecDecode` stands for anything that is no such file, and for an algorithm or a key that is not known here.
///   - `errSecParam` stands for an option of a wrong type.
///   - With `kSecUseDataProtectionKeychain`, each status of ``SecItemAdd(_:_:)`` but `errSecDuplicateItem`.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    status { () throws(KeychainError) in
        let options = try PKCS12Options(options)
        let file = try PKCS12File(Data(copying: pkcs12_data))
        let content = try file.open(options.passphrase)
        let imported = content.identities.map { ImportedIdentity($0, in: content) }
        if options.isStored { try store(imported) }
        items.pointee = try imported.map { identity throws(KeychainError) in try identity.dictionary } as NSArray
    }
}

/// Adds the missing items of identities and their chains.
private func store(_ identities: [ImportedIdentity]) throws(KeychainError) {
    var (requests, seen) = ([AddRequest](), Set<NSObject>())
    for identity in identities {
        let parts = [ItemReference.key(identity.key)] + identity.chain.map { .certificate($0) }
        for part in parts where seen.insert(part.object).inserted {
            let content = try part.content()
            var request = AddRequest(part.itemClass)
            (request.attributes, request.secret) = (content.attributes, content.secret)
            requests.append(request)
        }
    }
    _ = try Connection.current.addMissing(requests, Asking())
}

/// The options of an import.
private struct PKCS12Options {
    var passphrase = SecretBytes(copying: Data())
    var isStored = false

    init(_ dictionary: CFDictionary) throws(KeychainError) {
        let entries = dictionary as NSDictionary
        if let value = entries[kSecImportExportPassphrase] {
            guard let text = value as? String else {
                throw KeychainError(.parameter, message: "the passphrase (kSecImportExportPassphrase) is a text")
            }
            passphrase = SecretBytes(copying: Data(text.utf8))
        }
        let staysInMemory = try Self.flag(kSecImportToMemoryOnly, "kSecImportToMemoryOnly", entries)
        isStored = try Self.flag(kSecUseDataProtectionKeychain, "kSecUseDataProtectionKeychain", entries)
        if staysInMemory { isStored = false }
    }

    private static func flag(
        _ key: CFString, _ name: String, _ entries: NSDictionary
    ) throws(KeychainError) -> Bool {
        guard let value = entries[key] else { return false }
        guard let number = value as? NSNumber else {
            throw KeychainError(.parameter, message: "\(name) is a Boolean")
        }
        return number.boolValue
    }
}

/// A key of a file with its certificate and the issuers that the file has.
private struct ImportedIdentity {
    let key: SecKey
    /// The chain from the certificate upwards.
    let chain: [SecCertificate]
    private let others: [SecCertificate]

    init(
        _ identity: (key: AsymmetricKey, certificate: X509Certificate, mark: PKCS12Mark), in content: PKCS12Content
    ) {
        key = SecKey(identity.key)
        let certificates = content.certificates.map(\.certificate)
        chain = IssuerChain.chain(of: identity.certificate, among: certificates).map { SecCertificate($0) }
        others = certificates.map { SecCertificate($0) }
    }

    var dictionary: NSDictionary {
        get throws(KeychainError) {
            var entries: [String: Any] = [
                kSecImportItemIdentity as String: SecIdentity(chain[0], key),
                kSecImportItemCertChain as String: chain as NSArray,
                kSecImportItemKeyID as String: chain[0].contents.publicKeyHash as NSData,
            ]
            var trust: SecTrust?
            guard
                SecTrustCreateWithCertificates([chain[0]] + others as NSArray, SecPolicyCreateBasicX509(), &trust)
                    == errSecSuccess, let trust
            else { throw .unexpectedReply }
            _ = SecTrustEvaluateWithError(trust, nil)
            entries[kSecImportItemTrust as String] = trust
            entries[kSecImportItemLabel as String] = chain[0].contents.summary as NSString?
            return entries as NSDictionary
        }
    }
}

extension ItemReference {
    fileprivate var object: NSObject {
        switch self {
        case .key(let key): key
        case .certificate(let certificate): certificate
        case .identity(let identity): identity
        }
    }
}
