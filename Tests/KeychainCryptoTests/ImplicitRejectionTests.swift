import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainCrypto
@testable import KeychainKeys

/// RSA blocks whose padding of PKCS#1 v1.5 is wrong.
struct ImplicitRejectionTests {
    private struct Fixture: Decodable {
        let keys: [Key]

        struct Key: Decodable {
            let bits: Int
            let privateKey: HexBytes
            let cases: [Case]
        }

        struct Case: Decodable {
            let name: String
            let ciphertext: HexBytes
            let plaintext: HexBytes
        }
    }

    @Test("A block with a wrong padding decrypts to the bytes that OpenSSL computes")
    func vectors() throws {
        let fixture = try Vectors.load("rsa-rejection", as: Fixture.self)
        for key in fixture.keys {
            let ours = try RSAKey(privateBytes: key.privateKey.data)
            #expect(ours.bitCount == key.bits && !key.cases.isEmpty)
            for one in key.cases {
                let plain = try ours.decrypt(one.ciphertext.data, RSAKey.Padding.pkcs1)
                #expect(plain == one.plaintext.data, "\(key.bits) bits, \(one.name)")
            }
        }
    }

    @Test("Another key and another block give other bytes, of another length")
    func differs() throws {
        let key = try #require(try Vectors.load("rsa-rejection", as: Fixture.self).keys.first)
        let (one, other) = (try RSAKey(privateBytes: key.privateKey.data), try RSAKey(generating: 1024))
        let plaintexts = try (1...40).map { number -> Data in
            var block = Data(count: 128)
            block[127] = UInt8(number)
            return try one.decrypt(block, RSAKey.Padding.pkcs1)
        }
        #expect(Set(plaintexts).count >= 38 && Set(plaintexts.map(\.count)).count >= 10)
        let block = Data(count: 127) + [7]
        #expect(try other.decrypt(block, RSAKey.Padding.pkcs1) != one.decrypt(block, RSAKey.Padding.pkcs1))
    }
}
