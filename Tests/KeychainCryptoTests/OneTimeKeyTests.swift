import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto
@testable import KeychainTransfer

@Suite struct OneTimeKeyTests {
    private static func key(_ text: String) throws -> OneTimeKey {
        try Data(text.utf8).withUnsafeBytes { try OneTimeKey(text: $0) }
    }

    /// RFC 6238, appendix B, whose keys are digits, as many as the digest has bytes.
    @Test(
        "The vectors of RFC 6238 come out",
        arguments: [
            (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
        ] as [(UInt64, String, String, String)])
    func vectors(seconds: UInt64, sha1: String, sha256: String, sha512: String) {
        for (digest, count, code) in [(OneTimeKey.Digest.sha1, 20, sha1), (.sha256, 32, sha256), (.sha512, 64, sha512)]
        {
            let digits = String(repeating: "1234567890", count: 7).prefix(count)
            var key = OneTimeKey(secret: SecretBytes(copying: Data(digits.utf8)))
            key.digest = digest
            for (digitCount, end) in [(8, code), (7, String(code.suffix(7))), (6, String(code.suffix(6)))] {
                key.digitCount = digitCount
                #expect(key.code(at: seconds) == end)
            }
        }
    }

    @Test("A code is right for what is left of its period")
    func period() throws {
        var key = try Self.key("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
        #expect(key.secondsLeft(at: 59) == 1)
        #expect(key.secondsLeft(at: 60) == 30)
        #expect(key.code(at: 30) == key.code(at: 59))
        #expect(key.code(at: 59) != key.code(at: 60))
        key.period = 60
        #expect(key.secondsLeft(at: 59) == 1)
        #expect(key.secondsLeft(at: 60) == 60)
    }

    @Test(
        "A URI and bare base32 are read, in capitals or not, with spaces, hyphens and padding",
        arguments: [
            "otpauth://totp/ACME:ada?secret=MFRGG", "otpauth://totp/?secret=mfrgg",
            "OTPAUTH://TOTP/x?issuer=y&SECRET=MFRGG",
            "otpauth://totp/x?secret=MFRGG%3D%3D%3D&issuer=ACME#fragment", "MFRGG", " mfr-gg \n", "MFRGG===",
            "otpauth://totp/x?secret=mf%20rgg&digits=6&period=30&algorithm=SHA1",
        ])
    func texts(text: String) throws {
        let key = try Self.key(text)
        #expect(key.secret.copyData() == Data("abc".utf8))
        #expect((key.digest, key.digitCount, key.period) == (.sha1, 6, 30))
    }

    @Test("Digest, digits and period are those of the URI")
    func parameters() throws {
        for (name, digest) in [("SHA256", OneTimeKey.Digest.sha256), ("HmacSHA512", .sha512), ("sha-1", .sha1)] {
            let key = try Self.key("otpauth://totp/x?secret=MFRGG&algorithm=\(name)&digits=8&period=60")
            #expect((key.digest, key.digitCount, key.period) == (digest, 8, 60))
        }
    }

    @Test(
        "Anything else is refused, and the message has nothing of the key",
        arguments: [
            "", "otpauth://totp/x", "otpauth://totp/x?secret=", "otpauth://totp/x?secret=MFRGG&digits=9",
            "otpauth://totp/x?secret=MFRGG&digits=5", "otpauth://totp/x?secret=MFRGG&period=0",
            "otpauth://totp/x?secret=MFRGG&period=86401", "otpauth://totp/x?secret=MFRGG&algorithm=MD5",
            "otpauth://totp/x?secret=MFRGG&secret=MFRGG", "otpauth://hotp/x?secret=MFRGG&counter=1", "otpauth:MFRGG",
            "otpauth://totp/x?secret=MFRGG&digits=", "otpauth://totp/x?secret=MFRGG&period=99999999999999999999",
            "MFRG1",
            "M", "MFR", "MFRGGM", "MFRGG=A", "MFRGG\u{0}", "https://example.com?secret=MFRGG",
            String(repeating: "A", count: 9000),
            String(repeating: "A", count: 8000),
        ])
    func refused(text: String) {
        let error = #expect(throws: KeychainError.self) { try Self.key(text) }
        #expect(error?.code == .parameter)
        #expect(error?.message.contains("MFRG") == false)
    }

    @Test("In a secret of several lines only an otpauth URI is a key")
    func lines() {
        func range(_ text: String) -> Range<Int>? {
            Data(text.utf8).withUnsafeBytes { OneTimeKey.range(in: $0) }
        }
        #expect(range("hunter2\notpauth://totp/x?secret=MFRGG\nuser: ada") == 8..<37)
        #expect(range("hunter2\nuser: otpauth://totp/x") == nil)
        #expect(range("elm-relay-black") == nil)
        #expect(range("") == nil)
    }
}
