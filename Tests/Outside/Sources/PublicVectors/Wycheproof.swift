import Crypto
import Foundation
import Security

/// The files of C2SP/wycheproof whose algorithms are among `SecKeyAlgorithm`'s.
enum Wycheproof {
    /// A change of this number means that vectors are judged no longer that were.
    private static let judgedCount = 16_171

    /// - Throws: if a valid vector is refused, or an invalid one accepted.
    static func judge(_ directory: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        var (outcome, fileCount) = (Outcome(), 0)
        for file in files.sorted(by: { $0.path < $1.path }) where file.lastPathComponent.hasSuffix("_test.json") {
            let suite = try JSONDecoder().decode(Suite.self, from: Data(contentsOf: file))
            fileCount += 1
            for group in suite.testGroups {
                let judge = group.judge
                for vector in group.tests {
                    outcome.take(judge(vector), vector, "\(file.lastPathComponent) \(vector.tcId)")
                }
            }
        }
        print(
            "Wycheproof: \(outcome.judged) vectors, \(outcome.valid) valid ones accepted, "
                + "\(outcome.invalid) invalid ones refused, \(outcome.faults.count) otherwise; "
                + "\(outcome.other) of algorithms and keys that there are none of")
        guard outcome.faults.isEmpty, fileCount == 71, outcome.judged == judgedCount else {
            stop("Wycheproof, \(fileCount) files\n" + outcome.faults.joined(separator: "\n"))
        }
    }

    private struct Outcome {
        var (judged, valid, invalid, other) = (0, 0, 0, 0)
        var faults: [String] = []

        mutating func take(_ verdict: Verdict, _ vector: Vector, _ name: String) {
            if verdict == .other { return other += 1 }
            judged += 1
            switch (vector.result, verdict) {
            case ("valid", .accepted): valid += 1
            case ("invalid", .refused): invalid += 1
            case ("acceptable", .accepted), ("acceptable", .refused): break
            default: faults.append("\(name): \(verdict), and it is \(vector.result): \(vector.comment)")
            }
        }
    }

    enum Verdict {
        case accepted, refused
        /// The result is another one than the vector's, which is right for no vector.
        case wrong
        /// There is no such algorithm or key.
        case other
    }

    struct Suite: Decodable {
        let testGroups: [Group]
    }

    struct Vector: Decodable {
        let tcId: Int
        let comment: String
        let flags: [String]
        let result: String
        let msg: String?
        let sig: String?
        let ct: String?
        let label: String?
        let shared: String?
        let `public`: Half?
        let `private`: Half?
    }

    /// Half of a pair: bytes in hexadecimal, PEM, or JWK.
    enum Half: Decodable {
        case text(String)
        case jwk([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .jwk(try container.decode([String: String].self))
            }
        }
    }

    struct Group: Decodable {
        let type: String
        let sha: String?
        let mgfSha: String?
        let sLen: Int?
        let curve: String?
        let publicKey: CurveKey?
        let publicKeyDer: String?
        let privateKeyPkcs8: String?
        let tests: [Vector]

        struct CurveKey: Decodable {
            let uncompressed: String?
        }
    }
}

extension Wycheproof.Group {
    typealias Judge = (Wycheproof.Vector) -> Wycheproof.Verdict

    /// Judges the vectors of the group. The key is read once.
    var judge: Judge {
        let digest = sha ?? ""
        // Apple's algorithms have one digest, also as the mask, and a salt as long as it is.
        let hasOneDigest = sha == mgfSha
        switch type {
        case "EcdsaVerify": return verifying(curveKey, Self.ecdsa[digest])
        case "EcdsaP1363Verify": return verifying(curveKey, Self.plainECDSA[digest])
        case "RsassaPkcs1Verify": return verifying(rsaKey, Self.pkcs1[digest])
        case "RsassaPssVerify", "RsassaPssWithParametersVerify":
            let pss = Self.pss[digest]
            return verifying(rsaKey, hasOneDigest && sLen == pss?.salt ? pss?.algorithm : nil)
        case "RsassaPkcs1Generate": return signing(Self.pkcs1[digest])
        case "RsaesPkcs1Decrypt": return decrypting(.rsaEncryptionPKCS1)
        case "RsaesOaepDecrypt": return decrypting(hasOneDigest ? Self.oaep[digest] : nil)
        case "EcdhEcpointTest", "EcdhTest", "EcdhPemTest", "EcdhWebcryptoTest": return agreeing()
        default: stop("no vectors of the kind \(type)")
        }
    }

    private static let ecdsa: [String: SecKeyAlgorithm] = [
        "SHA-256": .ecdsaSignatureMessageX962SHA256, "SHA-384": .ecdsaSignatureMessageX962SHA384,
        "SHA-512": .ecdsaSignatureMessageX962SHA512,
    ]
    private static let plainECDSA: [String: SecKeyAlgorithm] = [
        "SHA-256": .ecdsaSignatureMessageRFC4754SHA256, "SHA-384": .ecdsaSignatureMessageRFC4754SHA384,
        "SHA-512": .ecdsaSignatureMessageRFC4754SHA512,
    ]
    private static let pkcs1: [String: SecKeyAlgorithm] = [
        "SHA-1": .rsaSignatureMessagePKCS1v15SHA1, "SHA-224": .rsaSignatureMessagePKCS1v15SHA224,
        "SHA-256": .rsaSignatureMessagePKCS1v15SHA256, "SHA-384": .rsaSignatureMessagePKCS1v15SHA384,
        "SHA-512": .rsaSignatureMessagePKCS1v15SHA512,
    ]
    private static let pss: [String: (salt: Int, algorithm: SecKeyAlgorithm)] = [
        "SHA-1": (20, .rsaSignatureMessagePSSSHA1), "SHA-224": (28, .rsaSignatureMessagePSSSHA224),
        "SHA-256": (32, .rsaSignatureMessagePSSSHA256), "SHA-384": (48, .rsaSignatureMessagePSSSHA384),
        "SHA-512": (64, .rsaSignatureMessagePSSSHA512),
    ]
    private static let oaep: [String: SecKeyAlgorithm] = [
        "SHA-1": .rsaEncryptionOAEPSHA1, "SHA-224": .rsaEncryptionOAEPSHA224, "SHA-256": .rsaEncryptionOAEPSHA256,
        "SHA-384": .rsaEncryptionOAEPSHA384, "SHA-512": .rsaEncryptionOAEPSHA512,
    ]

    // MARK: Operations

    private func verifying(_ key: SecKey?, _ algorithm: SecKeyAlgorithm?) -> Judge {
        guard let key, let algorithm else { return { _ in .other } }
        return { vector in
            let (message, signature) = (hexadecimal(vector.msg), hexadecimal(vector.sig))
            return SecKeyVerifySignature(key, algorithm, message, signature, nil) ? .accepted : .refused
        }
    }

    private func signing(_ algorithm: SecKeyAlgorithm?) -> Judge {
        guard let key = privateRSAKey, let algorithm else { return { _ in .other } }
        return { vector in
            let signature = SecKeyCreateSignature(key, algorithm, hexadecimal(vector.msg), nil)
            return signature.map { $0 == hexadecimal(vector.sig) ? .accepted : .wrong } ?? .refused
        }
    }

    private func decrypting(_ algorithm: SecKeyAlgorithm?) -> Judge {
        guard let key = privateRSAKey, let algorithm else { return { _ in .other } }
        return { vector in
            // Apple's algorithms have no label.
            guard (vector.label ?? "").isEmpty else { return .other }
            func decrypted() -> NSData? { SecKeyCreateDecryptedData(key, algorithm, hexadecimal(vector.ct), nil) }
            let message = decrypted()
            if algorithm == .rsaEncryptionPKCS1, vector.flags.contains("InvalidPkcs1Padding") {
                // No sign tells that the padding was wrong: other bytes come out, the same each time.
                guard let message, message == decrypted() else { return .wrong }
                return message == hexadecimal(vector.msg) ? .accepted : .refused
            }
            return message.map { $0 == hexadecimal(vector.msg) ? .accepted : .wrong } ?? .refused
        }
    }

    private func agreeing() -> Judge {
        return { vector in
            guard let own = privateCurveKey(vector) else { return .other }
            guard let peer = peer(vector) else { return .refused }
            guard
                let secret = SecKeyCopyKeyExchangeResult(own, .ecdhKeyExchangeStandard, peer, NSDictionary(), nil)
            else { return .refused }
            return secret == hexadecimal(vector.shared) ? .accepted : .wrong
        }
    }

    // MARK: Keys

    private var curveKey: SecKey? {
        key(kSecAttrKeyTypeECSECPrimeRandom, isPrivate: false, hexadecimal(publicKey?.uncompressed))
    }
    /// Of `SubjectPublicKeyInfo`, which is read too.
    private var rsaKey: SecKey? { key(kSecAttrKeyTypeRSA, isPrivate: false, hexadecimal(publicKeyDer)) }

    private var privateRSAKey: SecKey? {
        // PKCS#8: a version, an algorithm, and an OCTET STRING with the key.
        let parts = DER.children(of: hexadecimal(privateKeyPkcs8) as Data)
        return parts.count < 3 ? nil : key(kSecAttrKeyTypeRSA, isPrivate: true, parts[2].content as NSData)
    }

    private func key(_ type: CFString, isPrivate: Bool, _ bytes: CFData) -> SecKey? {
        let keyClass = isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic
        return SecKeyCreateWithData(
            bytes, [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass] as NSDictionary, nil)
    }

    private func privateCurveKey(_ vector: Wycheproof.Vector) -> SecKey? {
        let number: Data
        switch vector.private {
        case .text(let digits)? where !digits.hasPrefix("-"): number = hexadecimal(digits) as Data
        case .text(let pem)?:
            // PKCS#8, and within it SEC 1: a version and the number.
            let parts = DER.children(of: Data(pem: pem))
            guard parts.count > 2 else { return nil }
            let numbers = DER.children(of: parts[2].content)
            guard numbers.count > 1 else { return nil }
            number = numbers[1].content
        case .jwk(let fields)?: number = Data(base64URL: fields["d"] ?? "")
        case nil: return nil
        }
        let digits = number.drop { $0 == 0 }
        // The point is computed by another library.
        let pair: Data? =
            switch curve {
            case "secp256r1", "P-256":
                try? P256.KeyAgreement.PrivateKey(rawRepresentation: digits.filled(32)).x963Representation
            case "secp384r1", "P-384":
                try? P384.KeyAgreement.PrivateKey(rawRepresentation: digits.filled(48)).x963Representation
            case "secp521r1", "P-521":
                try? P521.KeyAgreement.PrivateKey(rawRepresentation: digits.filled(66)).x963Representation
            default: nil
            }
        return pair.flatMap { key(kSecAttrKeyTypeECSECPrimeRandom, isPrivate: true, $0 as NSData) }
    }

    private func peer(_ vector: Wycheproof.Vector) -> SecKey? {
        switch vector.public {
        case .text(let text)? where type == "EcdhEcpointTest":
            return key(kSecAttrKeyTypeECSECPrimeRandom, isPrivate: false, hexadecimal(text))
        case .text(let text)?:
            // Keys in this form come in certificates.
            let info = text.hasPrefix("-") ? Data(pem: text) : hexadecimal(text) as Data
            return SecCertificateCreateWithData(nil, DER.certificate(info) as NSData).flatMap(SecCertificateCopyKey)
        case .jwk(let fields)?:
            guard fields["kty"] == "EC", fields["crv"] == curve else { return nil }
            let (x, y) = (Data(base64URL: fields["x"] ?? ""), Data(base64URL: fields["y"] ?? ""))
            return key(kSecAttrKeyTypeECSECPrimeRandom, isPrivate: false, ([4] + x + y) as NSData)
        case nil: return nil
        }
    }
}

func hexadecimal(_ digits: String?) -> NSData {
    let digits = Array((digits ?? "").utf8)
    guard digits.count.isMultiple(of: 2) else { stop("half a byte") }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { place -> UInt8 in
        guard let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) else {
            stop("no hexadecimal")
        }
        return byte
    }
    return Data(bytes) as NSData
}

extension Data {
    /// The bytes of a text with one block.
    init(pem: String) {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        self = Data(base64Encoded: lines.joined()) ?? Data()
    }

    /// Base64 with two other characters and without the end.
    init(base64URL text: String) {
        let usual = text.replacing("-", with: "+").replacing("_", with: "/")
        self = Data(base64Encoded: usual + String(repeating: "=", count: (4 - usual.count % 4) % 4)) ?? Data()
    }

    func filled(_ size: Int) -> Data { Data(count: Swift.max(0, size - count)) + self }
}
