import Foundation
import Report
import Security

/// A key of a server as its key set shows it (RFC 7517), and a token that was signed with it elsewhere.
private enum Server {
    static let modulus = """
        orR80N25hMP8d-diH_A65uiUYxCL8QbaWPmsiOGdGQw0RendGYn9IGaBiYL5b3lPbKtjIOjuqUaPn68I1GzGB7Cri2i82fvTmhHMNA7cbMSf\
        T8W1XCMwF81zQx1AUjQaEZ3edQil961-b5iin6sXDVobIrLYc9rHLSzueGdt4U5LGKuA9vL-k3FlraenZUzmucUNStqR-OXDoYHVIWWJlLRy\
        pmHZH41SQb9LwOlLMeMuvhqIQ4EUxrEqz0S0ttINZjxjcafklfitf_qhy3G8ZvW9Q5z43nynjdfZR4gv8YX0N6LhwbN0cyggfNIWiNSQz7TI\
        _diVoOtQzuC3zxV4Jw
        """
    static let exponent = "AQAB"
    static let token = """
        eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhZGEiLCJzZWF0IjoiMTJBIn0.WJAHga4bWsxa6KYRGAM8onSSw3Ccx_8FKd\
        -WiJZU3ecPaoxNAA-ZFEk_F45ECp_9cG_fsvjmcCgHOXayY1WnauiumP5gpzTEwYgfm2yKAt_pzHanrT4yFx_7wAxq5TNWs99ziWg9BO3zKK\
        oRJ7PSF--iQIVZ18Te2CokFJAuCpl2VVwln6KDkOoI56KKJECOEXnOcnMwdLvPt6eCN4FlEjceEIB_YITy9-3SUaWr1TKalqTCy35pc79Cfe\
        isP4LIwK11ALBdFStRu6a8m-Q7i2CLs1-0aOCJXf4zm2aWuoP4Drd2ey9Jgw0HRAbuXN4NzN3qt3EjqD57_sKtBWWGrg
        """
}

extension Data {
    init?(base64URL text: String) {
        let text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }

    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// An element of DER with these bytes.
    func der(tag: UInt8) -> Data {
        var length: [UInt8] = []
        var rest = count
        while rest > 0 {
            length.insert(UInt8(rest & 0xff), at: 0)
            rest >>= 8
        }
        let prefix: [UInt8] = count < 0x80 ? [UInt8(count)] : [0x80 | UInt8(length.count)] + length
        return Data([tag]) + Data(prefix) + self
    }

    /// An INTEGER of DER, which a first bit would make negative.
    var derInteger: Data {
        let digits = Data(drop { $0 == 0 })
        return ((digits.first ?? 0x80) < 0x80 ? digits : Data([0]) + digits).der(tag: 0x02)
    }
}

/// RS256: a token of a server is checked with the modulus and the exponent of its key.
func checkTokenOfServer() throws {
    guard let modulus = Data(base64URL: Server.modulus), let exponent = Data(base64URL: Server.exponent) else {
        stop("the key of the server is no base64url")
    }
    let pkcs1 = (modulus.derInteger + exponent.derInteger).der(tag: 0x30)
    let attributes: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        kSecAttrKeySizeInBits: modulus.count * 8,
    ]
    var error: Unmanaged<CFError>?
    guard let key = SecKeyCreateWithData(pkcs1 as CFData, attributes as CFDictionary, &error) else {
        throw error!.takeRetainedValue() as Error
    }
    tell("The server's key has 2,048 bits", SecKeyGetBlockSize(key) == 256)

    func isValid(_ token: String) -> Bool {
        let parts = token.components(separatedBy: ".")
        guard parts.count == 3, let signature = Data(base64URL: parts[2]) else { return false }
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        var error: Unmanaged<CFError>?
        defer { error?.release() }
        return SecKeyVerifySignature(
            key, .rsaSignatureMessagePKCS1v15SHA256, signed as CFData, signature as CFData, &error)
    }
    tell("Its token is valid", isValid(Server.token))
    let claims = Data(#"{"sub":"eve","seat":"12A"}"#.utf8).base64URL
    var parts = Server.token.components(separatedBy: ".")
    parts[1] = claims
    tell("With other claims it is not", !isValid(parts.joined(separator: ".")))
}

/// ES256: a token is signed with a key on a curve, and its signature changes form on the way.
func makeToken() throws {
    var error: Unmanaged<CFError>?
    let parameters: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
    ]
    guard let privateKey = SecKeyCreateRandomKey(parameters as CFDictionary, &error),
        let publicKey = SecKeyCopyPublicKey(privateKey)
    else { throw error!.takeRetainedValue() as Error }
    let algorithm = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
    guard SecKeyIsAlgorithmSupported(privateKey, .sign, algorithm) else { stop("a key of P-256 cannot sign") }
    tell(
        "An RSA signature is not for it", !SecKeyIsAlgorithmSupported(privateKey, .sign, .rsaSignatureMessagePSSSHA256))

    let signed = Data(#"{"alg":"ES256"}"#.utf8).base64URL + "." + Data(#"{"sub":"ada"}"#.utf8).base64URL
    let message = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    guard let der = SecKeyCreateSignature(privateKey, message, Data(signed.utf8) as CFData, &error) as Data? else {
        throw error!.takeRetainedValue() as Error
    }
    guard let numbers = numbers(inDER: der, count: 32) else { stop("the signature is no SEQUENCE of two numbers") }
    let token = signed + "." + numbers.base64URL
    tell("A token has the two numbers", numbers.count == 64 && token.hasPrefix("eyJhbGciOiJFUzI1NiJ9."))
    tell(
        "They are the signature of RFC 4754",
        SecKeyVerifySignature(
            publicKey, .ecdsaSignatureMessageRFC4754SHA256, Data(signed.utf8) as CFData, numbers as CFData, &error))

    // Who receives the token goes the other way.
    guard let received = token.components(separatedBy: ".").last.flatMap({ Data(base64URL: $0) }) else {
        stop("the token has no signature")
    }
    let again = (received.prefix(32).derInteger + received.suffix(32).derInteger).der(tag: 0x30)
    tell("In DER they are as they were", again == der)
    tell(
        "And verify",
        SecKeyVerifySignature(publicKey, message, Data(signed.utf8) as CFData, again as CFData, &error))
}

/// The two numbers of a signature in DER, each of `count` bytes.
private func numbers(inDER der: Data, count: Int) -> Data? {
    let bytes = [UInt8](der)
    guard bytes.count > 2, bytes[0] == 0x30, Int(bytes[1]) == bytes.count - 2 else { return nil }
    var result = Data()
    var place = 2
    for _ in 0..<2 {
        guard place + 2 <= bytes.count, bytes[place] == 0x02 else { return nil }
        let end = place + 2 + Int(bytes[place + 1])
        guard end <= bytes.count else { return nil }
        let digits = bytes[(place + 2)..<end].drop { $0 == 0 }
        guard digits.count <= count else { return nil }
        result += Data(count: count - digits.count) + Data(digits)
        place = end
    }
    return place == bytes.count ? result : nil
}
