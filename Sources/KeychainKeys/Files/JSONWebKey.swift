internal import FoundationEssentials
internal import KeychainCrypto

/// A key as JSON (RFC 7517; RFC 7518, section 6).
enum JSONWebKey {
    /// One line, without its end. A private half has its private members too.
    static func text(of key: AsymmetricKey) throws -> String {
        // All of it is base64url or a word of ours, so nothing has to be escaped.
        "{" + (try members(of: key).map { "\"\($0.0)\":\"\($0.1)\"" }.joined(separator: ",")) + "}"
    }

    private static func members(of key: AsymmetricKey) throws -> [(String, String)] {
        switch key {
        case .rsa(let key):
            guard let bytes = key.privateBytes else {
                let numbers = try DERIntegers.numbers(in: key.publicBytes)
                return [("kty", "RSA"), ("n", base64URL(numbers[0])), ("e", base64URL(numbers[1]))]
            }
            let numbers = try RSANumbers(der: bytes)
            return [("kty", "RSA")]
                + [
                    ("n", numbers.modulus), ("e", numbers.publicExponent), ("d", numbers.privateExponent),
                    ("p", numbers.prime1), ("q", numbers.prime2), ("dp", numbers.exponent1), ("dq", numbers.exponent2),
                    ("qi", numbers.coefficient),
                ].map { ($0, base64URL($1)) }
        case .ec(let key):
            let size = key.curve.fieldByteCount
            return [
                ("kty", "EC"), ("crv", "P-\(key.curve.bitCount)"), ("x", base64URL(key.point.dropFirst().prefix(size))),
                ("y", base64URL(key.point.suffix(size))),
            ] + (key.privateNumber.map { [("d", base64URL($0))] } ?? [])
        }
    }

    private static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
