import Crypto
import Foundation
import Testing

@testable import KeychainCrypto

@Suite struct KeyedHashTests {
    /// RFC 4231, test cases 1, 2 and 3.
    @Test(
        "The keyed hash is HMAC-SHA-256",
        arguments: [
            (
                String(repeating: "0b", count: 20), "4869205468657265",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
        ])
    func hmac(key: String, message: String, code: String) {
        let result = Data(hex: key).withUnsafeBytes { key in
            var hash = KeyedHash(key: key)
            Data(hex: message).withUnsafeBytes { hash.update($0) }
            return hash.finalize { Data($0) }
        }
        #expect(result == Data(hex: code))
    }

    /// RFC 5869, test case 1: the first 32 of its 42 bytes of output.
    @Test("Derived keys are the first block of HKDF-Expand")
    func hkdf() {
        let key = Data(hex: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
        let derived = key.withUnsafeBytes { key in
            Data(hex: "f0f1f2f3f4f5f6f7f8f9").withUnsafeBytes { info in
                KeyedHash.withExpanded(key, info: info) { Data($0) }
            }
        }
        let expected = Data(hex: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf")
        #expect(derived == expected)
    }
}
