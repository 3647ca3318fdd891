internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// The message of an RSA block with the padding of PKCS#1 v1.5 (RFC 8017, section 7.2.2), or bytes that stand for it if the padding is wrong.
///
/// A peer that learns whether a padding was right decrypts any block by asking often enough (Bleichenbacher). So a
/// wrong padding is no failure: the private key and the ciphertext determine a pseudo-random message and its length, as
/// draft-irtf-cfrg-rsa-guidance, section 7, and OpenSSL since 3.2 have it. No branch depends on the block: masks
/// choose, so far as the compiler leaves them. The length of the output tells nothing of the padding.
enum ImplicitRejection {
    /// Zero, two, and at least eight bytes of padding.
    private static let fewestBytesBefore = 10

    /// - Parameters:
    ///   - block: The output of the private operation, of the size of the modulus: at least 64 bytes.
    ///   - privateExponent: It has the size of the modulus too.
    static func message(of block: Data, ciphertext: Data, privateExponent: SecretBytes) -> Data {
        let block = Array(block)
        let key = self.key(ciphertext, privateExponent)
        let substitute = output(key, "message", count: block.count)
        let startOfSubstitute = block.count - lengthOfSubstitute(key, blockByteCount: block.count)

        // The first zero behind the first two bytes.
        var (zero, isFound) = (0, 0)
        for index in 2..<block.count {
            let isZero = mask(Int(block[index]), isLessThan: 1)
            zero = choose(isZero & ~isFound, index, zero)
            isFound |= isZero
        }
        let isRight =
            mask(Int(block[0]), isLessThan: 1) & mask(Int(block[1] ^ 2), isLessThan: 1) & isFound
            & ~mask(zero, isLessThan: fewestBytesBefore)
        let start = choose(isRight, zero + 1, startOfSubstitute)
        return Data((start..<block.count).map { UInt8(choose(isRight, Int(block[$0]), Int(substitute[$0]))) })
    }

    private static func key(_ ciphertext: Data, _ privateExponent: SecretBytes) -> [UInt8] {
        var (digest, key) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        privateExponent.withUnsafeBytes { exponent in
            digest.withUnsafeMutableBytes { DigestAlgorithm.sha256.hash(exponent, into: $0) }
        }
        defer { digest.withUnsafeMutableBytes { ckeychain_erase($0.baseAddress, $0.count) } }
        var hash = digest.withUnsafeBytes { KeyedHash(key: $0) }
        ciphertext.withUnsafeBytes { hash.update($0) }
        key.withUnsafeMutableBytes { hash.finalize(into: $0) }
        return key
    }

    /// The last of 128 numbers that is short enough for a message.
    private static func lengthOfSubstitute(_ key: [UInt8], blockByteCount: Int) -> Int {
        let end = blockByteCount - fewestBytesBefore
        let bits = (1 << (Int.bitWidth - end.leadingZeroBitCount)) - 1
        let numbers = output(key, "length", count: 256)
        return stride(from: 0, to: numbers.count, by: 2).reduce(0) { length, place in
            let number = (Int(numbers[place]) << 8 | Int(numbers[place + 1])) & bits
            return choose(mask(number, isLessThan: end), number, length)
        }
    }

    /// HMAC of a counter, a label and the number of bits, one block after the other.
    private static func output(_ key: [UInt8], _ label: String, count: Int) -> [UInt8] {
        var output: [UInt8] = []
        let bits = [UInt8((count * 8) >> 8), UInt8((count * 8) & 0xFF)]
        while output.count < count {
            let number = output.count / KeyedHash.byteCount
            var hash = key.withUnsafeBytes { KeyedHash(key: $0) }
            let input = [UInt8(number >> 8), UInt8(number & 0xFF)] + Array(label.utf8) + bits
            input.withUnsafeBytes { hash.update($0) }
            hash.finalize { output += $0 }
        }
        return Array(output.prefix(count))
    }

    /// All ones if a number is less than another, else zero. Both are small and not negative.
    private static func mask(_ number: Int, isLessThan other: Int) -> Int { (number - other) >> (Int.bitWidth - 1) }

    private static func choose(_ mask: Int, _ one: Int, _ other: Int) -> Int { (one & mask) | (other & ~mask) }
}
