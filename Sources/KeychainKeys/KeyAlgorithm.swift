/// An algorithm of a key, with a name as Apple's (`SecKeyAlgorithm`).
package enum KeyAlgorithm: Sendable, Hashable {
    case signature(Signature)
    case encryption(Encryption)
    case exchange(Exchange)

    /// The input of a signature: a message, which is hashed first, or a digest.
    package enum Input: String, Sendable, Hashable, CaseIterable { case message, digest }

    /// How the two numbers of an ECDSA signature are written.
    package enum SignatureForm: String, Sendable, Hashable, CaseIterable {
        /// SEQUENCE { r, s } in DER (ANSI X9.62).
        case x962 = "X962"
        /// r ‖ s, each of the field's size (RFC 4754).
        case rfc4754 = "RFC4754"
    }

    package enum Signature: Sendable, Hashable {
        /// x^d mod n.
        case rsaRaw
        /// PKCS#1's padding of type 1 around the bytes, without the name of a digest.
        case rsaPKCS1Raw
        case rsaPKCS1(Input, DigestAlgorithm)
        case rsaPSS(Input, DigestAlgorithm)
        /// ECDSA of the bytes themselves, as many of their first bits as the curve has.
        case ecdsaRaw(SignatureForm)
        case ecdsa(SignatureForm, Input, DigestAlgorithm)
    }

    package enum Encryption: Sendable, Hashable {
        case rsaRaw
        case rsaPKCS1
        case rsaOAEP(DigestAlgorithm)
        /// A random AES key under OAEP, and AES-GCM under that (``RSAEnvelope``).
        case rsaOAEPWithGCM(DigestAlgorithm)
        case ecies(ECIES)
    }

    package enum Exchange: Sendable, Hashable {
        case plain(isCofactor: Bool)
        /// The agreement has the key derivation of ANSI X9.63.
        case x963(isCofactor: Bool, DigestAlgorithm)
    }
}

// MARK: - Names

extension KeyAlgorithm {
    package static let byName: [String: KeyAlgorithm] = {
        var algorithms = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        algorithms[formerRFC4754] = .signature(.ecdsaRaw(.rfc4754))
        return algorithms
    }()

    /// The former name of ECDSA of the bytes themselves in the form of RFC 4754.
    package static let formerRFC4754 = "algid:sign:ECDSA:RFC4754"

    package static let all: [KeyAlgorithm] =
        signatures.map { .signature($0) } + encryptions.map { .encryption($0) } + exchanges.map { .exchange($0) }

    private static let signatures: [Signature] =
        [.rsaRaw, .rsaPKCS1Raw] + SignatureForm.allCases.map { .ecdsaRaw($0) }
        + Input.allCases.flatMap { input in
            DigestAlgorithm.allCases.flatMap { digest -> [Signature] in
                [.rsaPKCS1(input, digest), .rsaPSS(input, digest)]
                    + SignatureForm.allCases.map { .ecdsa($0, input, digest) }
            }
        }

    private static let encryptions: [Encryption] =
        [.rsaRaw, .rsaPKCS1] + DigestAlgorithm.allCases.flatMap { [.rsaOAEP($0), .rsaOAEPWithGCM($0)] }
        + [false, true].flatMap { isCofactor in
            DigestAlgorithm.allCases.map { .ecies(ECIES(digest: $0, isCofactor: isCofactor, derivesNonce: false)) }
                // Apple has none of these with SHA-1.
                + DigestAlgorithm.allCases.dropFirst().map {
                    .ecies(ECIES(digest: $0, isCofactor: isCofactor, derivesNonce: true))
                }
        }

    private static let exchanges: [Exchange] = [false, true].flatMap { isCofactor in
        [.plain(isCofactor: isCofactor)] + DigestAlgorithm.allCases.map { .x963(isCofactor: isCofactor, $0) }
    }

    /// Apple's text for the algorithm.
    package var name: String {
        switch self {
        case .signature(let signature): "algid:sign:" + signature.name
        case .encryption(let encryption): "algid:encrypt:" + encryption.name
        case .exchange(.plain(let isCofactor)): "algid:keyexchange:" + Self.exchange(isCofactor)
        case .exchange(.x963(let isCofactor, let digest)):
            "algid:keyexchange:\(Self.exchange(isCofactor)):KDFX963:\(digest.rawValue)"
        }
    }

    fileprivate static func exchange(_ isCofactor: Bool) -> String { isCofactor ? "ECDHC" : "ECDH" }
}

extension KeyAlgorithm.Signature {
    fileprivate var name: String {
        switch self {
        case .rsaRaw: "RSA:raw"
        case .rsaPKCS1Raw: "RSA:digest-PKCS1v15"
        case .rsaPKCS1(let input, let digest): "RSA:\(input.rawValue)-PKCS1v15:\(digest.rawValue)"
        // Apple's name for SHA-224 counts 24 bytes of salt, of which there are 28.
        case .rsaPSS(let input, let digest):
            "RSA:\(input.rawValue)-PSS:\(digest.rawValue):\(digest.rawValue):"
                + "\(digest == .sha224 ? 24 : digest.byteCount)"
        case .ecdsaRaw(let form): "ECDSA:digest-\(form.rawValue)"
        case .ecdsa(let form, let input, let digest): "ECDSA:\(input.rawValue)-\(form.rawValue):\(digest.rawValue)"
        }
    }
}

extension KeyAlgorithm.Encryption {
    fileprivate var name: String {
        switch self {
        case .rsaRaw: "RSA:raw"
        case .rsaPKCS1: "RSA:PKCS1"
        case .rsaOAEP(let digest): "RSA:OAEP:\(digest.rawValue)"
        case .rsaOAEPWithGCM(let digest): "RSA:OAEP:\(digest.rawValue):AESGCM"
        case .ecies(let scheme):
            "ECIES:\(KeyAlgorithm.exchange(scheme.isCofactor)):KDFX963:\(scheme.digest.rawValue):AESGCM"
                + (scheme.derivesNonce ? "-KDFIV" : "")
        }
    }
}
