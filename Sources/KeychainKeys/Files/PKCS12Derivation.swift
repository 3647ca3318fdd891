internal import KeychainCrypto
internal import KeychainModel

/// PKCS#12's own derivation of keys (RFC 7292, appendix B.2). Files written today have it for their code alone.
enum PKCS12Derivation {
    /// The use of the derived bytes. One passphrase gives other bytes for each use.
    enum Purpose: UInt8 { case key = 1, initial, code }

    /// - Parameters:
    ///   - rounds: At least 1.
    ///   - result: The memory for the result, of the size that is wanted.
    static func derive(
        _ purpose: Purpose, _ passphrase: FilePassphrase, salt: [UInt8], rounds: Int, _ digest: DigestAlgorithm,
        into result: UnsafeMutableRawBufferPointer
    ) {
        let size = digest.blockByteCount
        passphrase.wide.withUnsafeBytes { wide in
            let (saltCount, wideCount) = (salt.count.roundedUp(to: size), wide.count.roundedUp(to: size))
            LibraryState.with(byteCount: size + saltCount + wideCount) { start in
                // The purpose, the salt and the passphrase, each as often as it takes to fill blocks.
                let input = UnsafeMutableRawBufferPointer(start: start, count: size + saltCount + wideCount)
                for index in 0..<size { input[index] = purpose.rawValue }
                for index in 0..<saltCount { input[size + index] = salt[index % salt.count] }
                for index in 0..<wideCount { input[size + saltCount + index] = wide[index % wide.count] }
                fill(result, from: input, rounds: rounds, digest)
            }
        }
    }

    private static func fill(
        _ result: UnsafeMutableRawBufferPointer, from input: UnsafeMutableRawBufferPointer, rounds: Int,
        _ digest: DigestAlgorithm
    ) {
        LibraryState.with(byteCount: digest.byteCount) { start in
            let output = UnsafeMutableRawBufferPointer(start: start, count: digest.byteCount)
            var rest = result[...]
            while !rest.isEmpty {
                digest.hash(UnsafeRawBufferPointer(input), into: output)
                for _ in 1..<max(rounds, 1) { digest.hash(UnsafeRawBufferPointer(output), into: output) }
                let count = min(output.count, rest.count)
                UnsafeMutableRawBufferPointer(rebasing: rest).copyBytes(from: output.prefix(count))
                rest = rest.dropFirst(count)
                // The first block is the purpose, which stays.
                for place in stride(from: digest.blockByteCount, to: input.count, by: digest.blockByteCount) {
                    increase(
                        UnsafeMutableRawBufferPointer(rebasing: input[place..<place + digest.blockByteCount]),
                        by: output)
                }
            }
        }
    }

    /// Adds a number and one to a block, and drops what does not fit.
    private static func increase(_ block: UnsafeMutableRawBufferPointer, by number: UnsafeMutableRawBufferPointer) {
        var carry = UInt16(1)
        for index in block.indices.reversed() {
            carry += UInt16(block[index]) + UInt16(number[index % number.count])
            block[index] = UInt8(carry & 0xFF)
            carry >>= 8
        }
    }
}

extension Int {
    fileprivate func roundedUp(to size: Int) -> Int { (self + size - 1) / size * size }
}
