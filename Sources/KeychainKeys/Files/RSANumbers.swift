internal import FoundationEssentials
internal import KeychainCrypto

/// The numbers of a private RSA key with two primes (RFC 8017, section 3.2), the highest byte first and without zeros in
/// front.
struct RSANumbers {
    var modulus, publicExponent, privateExponent, prime1, prime2, exponent1, exponent2, coefficient: [UInt8]

    /// - Parameter der: `RSAPrivateKey` of PKCS#1.
    init(der: Data) throws {
        let numbers = try DERIntegers.numbers(in: der)
        guard numbers.count == 9, numbers[0].isEmpty else { throw KeyFileFlaw.damaged }
        (modulus, publicExponent, privateExponent) = (numbers[1], numbers[2], numbers[3])
        (prime1, prime2, exponent1, exponent2) = (numbers[4], numbers[5], numbers[6], numbers[7])
        coefficient = numbers[8]
    }

    /// Computes the missing exponents from the other numbers.
    init(
        modulus: [UInt8], publicExponent: [UInt8], privateExponent: [UInt8], prime1: [UInt8], prime2: [UInt8],
        coefficient: [UInt8]
    ) throws {
        (self.modulus, self.publicExponent, self.privateExponent) = (modulus, publicExponent, privateExponent)
        (self.prime1, self.prime2, self.coefficient) = (prime1, prime2, coefficient)
        exponent1 = try Self.remainder(privateExponent, prime1)
        exponent2 = try Self.remainder(privateExponent, prime2)
    }

    /// `RSAPrivateKey` of PKCS#1.
    var der: Data {
        DERIntegers.der([
            [], modulus, publicExponent, privateExponent, prime1, prime2, exponent1, exponent2, coefficient,
        ])
    }

    /// d mod (p − 1). The library erases its own copies.
    private static func remainder(_ number: [UInt8], _ prime: [UInt8]) throws -> [UInt8] {
        let (number, divisor) = (
            CCryptoBoringSSL_BN_bin2bn(number, number.count, nil), CCryptoBoringSSL_BN_bin2bn(prime, prime.count, nil)
        )
        let (result, context) = (CCryptoBoringSSL_BN_new(), CCryptoBoringSSL_BN_CTX_new())
        defer {
            for number in [number, divisor, result] { CCryptoBoringSSL_BN_free(number) }
            CCryptoBoringSSL_BN_CTX_free(context)
        }
        guard let number, let divisor, let result, let context, prime.count > 1,
            CCryptoBoringSSL_BN_sub_word(divisor, 1) == 1,
            CCryptoBoringSSL_BN_div(nil, result, number, divisor, context) == 1
        else {
            CCryptoBoringSSL_ERR_clear_error()
            throw KeyFileFlaw.damaged
        }
        var bytes = [UInt8](repeating: 0, count: Int(CCryptoBoringSSL_BN_num_bytes(result)))
        _ = CCryptoBoringSSL_BN_bn2bin(result, &bytes)  // writes as many as there are
        return bytes
    }
}
