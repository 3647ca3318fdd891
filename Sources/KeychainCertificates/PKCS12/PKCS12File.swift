package import FoundationEssentials
internal import KeychainCrypto
internal import KeychainKeys
package import KeychainModel
internal import SwiftASN1

/// A file of keys and their certificates under a passphrase: PKCS#12 (RFC 7292), in BER or DER.
package struct PKCS12File: Sendable {
    package static let mostBytes = 4 << 20
    /// The work of one opening, in rounds of hashing. More rounds keep a reader busy for minutes.
    package static let mostRounds = 10_000_000

    /// `AuthenticatedSafe`.
    private let content: [UInt8]
    private let code: PassphraseCode?

    /// - Throws: `.decode` for anything else, for an algorithm that is not known here, and for one that asks for too much
    ///   work.
    package init(_ bytes: Data) throws(KeychainError) {
        guard bytes.count <= Self.mostBytes else {
            throw KeychainError(.decode, message: "a PKCS#12 file has at most 4 MiB")
        }
        let (content, code) = try KeychainError.decoding {
            try DER.sequence(BER.parse(Array(bytes)), identifier: .sequence) { nodes in
                guard try Int(derEncoded: &nodes) == 3, let info = try nodes.next().map({ try ContentInfo($0) }) else {
                    throw KeychainError.noPKCS12
                }
                guard info.type == .pkcs7Data else {
                    throw KeychainError(
                        .decode, message: "the PKCS#12 file is signed with a key: only those with a passphrase are read"
                    )
                }
                return (Array(try info.octets), try nodes.next().map { try PassphraseCode($0.encodedBytes) })
            }
        }
        (self.content, self.code) = (content, code)
    }

    /// Opens the file. This takes as long as the file asks for: up to seconds.
    ///
    /// - Parameter mostRounds: The most work that is done for it.
    /// - Throws: `.authenticationFailed` for a wrong passphrase, and for a file without the code that would tell;
    ///   `.decode` for kinds of content that are not known here.
    package func open(
        _ passphrase: SecretBytes, mostRounds: Int = Self.mostRounds
    ) throws(KeychainError) -> PKCS12Content {
        guard let code else {
            throw KeychainError(
                .authenticationFailed,
                message: "the PKCS#12 file has no code (MAC) that shows that its content is whole")
        }
        var reader = PKCS12Reader(rounds: mostRounds)
        for reading in FilePassphrase(passphrase).readings {
            try reader.spend(code.rounds)
            guard code.isRight(for: content, reading) else { continue }
            reader.passphrase = reading
            try reader.read(content[...])
            return reader.content
        }
        throw KeychainError(.authenticationFailed, message: "the passphrase is wrong, or the PKCS#12 file is damaged")
    }
}

/// One walk through the content of a file.
private struct PKCS12Reader {
    var passphrase = FilePassphrase.absent
    private(set) var content = PKCS12Content()
    /// The rounds of hashing that are left.
    private var rounds: Int

    init(rounds: Int) { self.rounds = rounds }

    mutating func spend(_ rounds: Int) throws(KeychainError) {
        self.rounds -= rounds
        guard self.rounds >= 0 else {
            throw KeychainError(
                .decode, message: "the PKCS#12 file asks for more work than 10 million rounds of hashing in all")
        }
    }

    /// - Parameter bytes: `AuthenticatedSafe`.
    mutating func read(_ bytes: ArraySlice<UInt8>) throws(KeychainError) {
        let parts = try KeychainError.decoding {
            try BER.parse(bytes).elements.map { try ContentInfo($0) }
        }
        for part in parts { try read(part) }
    }

    private mutating func read(_ part: ContentInfo) throws(KeychainError) {
        switch part.type {
        case .pkcs7Data: try readBags(try KeychainError.decoding { try part.octets })
        case .pkcs7EncryptedData:
            let (encryption, ciphertext) = try KeychainError.decoding { try Self.encrypted(part.content) }
            try readBags(try decrypt(encryption, ciphertext)[...])
        default: throw KeychainError.unknown("a part of the kind \(part.type)")
        }
    }

    /// `EncryptedData` (RFC 2315, section 13).
    private static func encrypted(_ node: ASN1Node?) throws -> (PassphraseEncryption, [UInt8]) {
        guard let node else { throw KeychainError.noPKCS12 }
        return try DER.sequence(node, identifier: .sequence) { nodes in
            _ = try Int(derEncoded: &nodes)
            guard let info = nodes.next() else { throw KeychainError.noPKCS12 }
            while nodes.next() != nil {}
            return try DER.sequence(info, identifier: .sequence) { nodes in
                _ = try ASN1ObjectIdentifier(derEncoded: &nodes)
                guard let scheme = nodes.next(), let ciphertext = nodes.next() else { throw KeychainError.noPKCS12 }
                let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
                return (
                    try PassphraseEncryption(scheme.encodedBytes),
                    Array(try ASN1OctetString(berEncoded: ciphertext, withIdentifier: tag).bytes)
                )
            }
        }
    }

    private mutating func decrypt(
        _ encryption: PassphraseEncryption, _ ciphertext: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        try spend(encryption.rounds)
        guard let plaintext = encryption.decrypt(ciphertext, passphrase) else {
            throw KeychainError(
                .decode, message: "a part of the PKCS#12 file is damaged, or under another passphrase than its code")
        }
        return plaintext
    }

    /// - Parameter bytes: `SafeContents`.
    private mutating func readBags(_ bytes: ArraySlice<UInt8>) throws(KeychainError) {
        let root = try KeychainError.decoding { try BER.parse(bytes) }
        try readBags(root)
    }

    private mutating func readBags(_ root: ASN1Node) throws(KeychainError) {
        let bags = try KeychainError.decoding { try root.elements.map { try SafeBag($0) } }
        for bag in bags { try read(bag) }
    }

    private mutating func read(_ bag: SafeBag) throws(KeychainError) {
        switch bag.type {
        case .keyBag: try append(bag.value.encodedBytes, bag.mark)
        case .shroudedKeyBag:
            let (encryption, ciphertext) = try KeychainError.decoding {
                try DER.sequence(bag.value, identifier: .sequence) { nodes in
                    guard let scheme = nodes.next() else { throw KeychainError.noPKCS12 }
                    return (
                        try PassphraseEncryption(scheme.encodedBytes),
                        Array(try ASN1OctetString(berEncoded: &nodes).bytes)
                    )
                }
            }
            try append(try decrypt(encryption, ciphertext)[...], bag.mark)
        case .certificateBag:
            if let certificate = try KeychainError.decoding({ try Self.certificate(bag.value) }) {
                content.certificates.append((certificate, bag.mark))
            }
        // Bags in a bag are in one parsed structure, whose depth has a limit.
        case .safeContentsBag: try readBags(bag.value)
        // Secrets, lists of revoked certificates, and unknown kinds of bags.
        default: return
        }
    }

    /// - Parameter bytes: `PrivateKeyInfo`.
    private mutating func append(_ bytes: ArraySlice<UInt8>, _ mark: PKCS12Mark) throws(KeychainError) {
        do throws(KeychainError) {
            content.keys.append((try AsymmetricKey(pkcs8: bytes), mark))
        } catch {
            // A kind of key that is not known here is damage, for a status.
            throw KeychainError(.decode, message: "in the PKCS#12 file: \(error.message)", cause: error)
        }
    }

    /// - Returns: nil for a certificate of another kind than X.509.
    private static func certificate(_ node: ASN1Node) throws -> X509Certificate? {
        try DER.sequence(node, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            let value = try DER.explicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific, { $0 })
            guard type == .x509CertificateInBag else { return nil }
            return try X509Certificate(Data(try ASN1OctetString(berEncoded: value).bytes))
        }
    }
}

extension ASN1Node {
    /// The elements of a SEQUENCE.
    fileprivate var elements: ASN1NodeCollection {
        get throws {
            guard identifier == .sequence, case .constructed(let nodes) = content else {
                throw ASN1Error.unexpectedFieldType(identifier)
            }
            return nodes
        }
    }
}

extension KeychainError {
    /// Turns each error of a parser into one that names the file's kind.
    fileprivate static func decoding<Result>(_ body: () throws -> Result) throws(KeychainError) -> Result {
        do {
            return try body()
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.decode, message: noPKCS12.message, cause: error)
        }
    }

    fileprivate static var noPKCS12: KeychainError {
        KeychainError(.decode, message: "the file is no PKCS#12 file, or it is damaged")
    }

    fileprivate static func unknown(_ part: String) -> KeychainError {
        KeychainError(.decode, message: "the PKCS#12 file has \(part), which is not known here")
    }
}
