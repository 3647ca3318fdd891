import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainCrypto
@testable import KeychainKeys

/// The cipher library's list of errors belongs to the thread, and so to the program that uses the library itself.
struct LibraryErrorsTests {
    @Test("No call leaves an error in the cipher library's list, whether it succeeds or fails")
    func empty() throws {
        let (pair, curve) = (try RSAKey(generating: 1024), try ECKey(generating: .p256))
        let (other, digest) = (try ECKey(generating: .p384), Data(count: 32))
        let publicKeyInfo = try KeyFileFormat.spki.bytes(of: .rsa(pair))
        let publicHalf = try pair.publicHalf
        let calls: [(String, () throws -> Void)] = [
            ("a key of a certificate", { _ = try RSAKey(publicBytes: publicKeyInfo) }),
            ("no public key", { _ = try RSAKey(publicBytes: Data([1])) }),
            ("no private key", { _ = try RSAKey(privateBytes: publicKeyInfo) }),
            ("a public half", { _ = try pair.publicHalf }),
            ("a wrong signature", { _ = pair.isSignature(Data(count: 128), ofDigest: digest, .sha256) }),
            ("a wrong PSS", { _ = pair.isProbabilisticSignature(Data(count: 128), ofDigest: digest, .sha256) }),
            ("a signature", { _ = try pair.signature(ofDigest: digest, .sha256) }),
            ("a signature of a public half", { _ = try publicHalf.signature(ofDigest: digest, .sha256) }),
            ("a wrong padding", { _ = try pair.decrypt(Data(count: 127) + [1], RSAKey.Padding.pkcs1) }),
            ("a wrong OAEP", { _ = try pair.decrypt(Data(count: 127) + [1], RSAKey.Padding.oaep(.sha1)) }),
            ("a wrong length", { _ = try pair.decrypt(Data(count: 3), RSAKey.Padding.none) }),
            ("too much", { _ = try pair.encrypt(Data(count: 200), .pkcs1) }),
            ("a point beside the curve", { _ = try ECKey(.p256, point: Data([4]) + Data(count: 64)) }),
            ("a compressed point", { _ = try ECKey(.p256, anyPoint: Data([2]) + curve.point[1..<33]) }),
            ("no point", { _ = try ECKey(.p256, anyPoint: Data([2]) + Data(count: 32)) }),
            ("no SEC 1", { _ = try ECKey(.p256, sec1: [0x30, 0x03, 0x02, 0x01, 0x01]) }),
            ("a wrong ECDSA", { _ = curve.isSignature(Data(count: 64), ofDigest: digest) }),
            ("an ECDSA of another length", { _ = curve.isSignature(Data(count: 3), ofDigest: digest) }),
            ("another curve", { _ = try curve.sharedSecret(with: other) }),
            ("a wrong Ed25519", { _ = Ed25519.isSignature(Data(count: 64), of: digest, by: Data(count: 32)) }),
            ("a changed box", { #expect(!Self.opensChangedBox()) }),
            ("an encrypted key, wrong passphrase", { try Self.openWithWrongPassphrase() }),
        ]
        for (name, call) in calls {
            CCryptoBoringSSL_ERR_clear_error()
            // Whether it fails is another test's matter.
            try? call()
            #expect(CCryptoBoringSSL_ERR_peek_error() == 0, "\(name)")
        }
    }

    @Test("The control: the library itself leaves an error behind")
    func control() {
        CCryptoBoringSSL_ERR_clear_error()
        #expect(CCryptoBoringSSL_RSA_public_key_from_bytes([1], 1) == nil)
        #expect(CCryptoBoringSSL_ERR_peek_error() != 0)
        CCryptoBoringSSL_ERR_clear_error()
    }

    private static func opensChangedBox() -> Bool {
        let (key, box) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 60))
        var plain = [UInt8](repeating: 0, count: 32)
        return key.withUnsafeBytes { key in
            box.withUnsafeBytes { box in
                plain.withUnsafeMutableBytes { plain in
                    AESGCM.open(box, key: key, associated: UnsafeRawBufferPointer(start: nil, count: 0), into: plain)
                }
            }
        }
    }

    private static func openWithWrongPassphrase() throws {
        let key = try OpenSSL.output([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes-256-cbc", "-pass", "pass:right",
        ])
        guard case .encrypted(let file) = try KeyFile(key) else { throw KeyFileFlaw.damaged }
        _ = try file.key(SecretBytes(copying: Data("wrong".utf8)))
    }
}

@_extern(c) private func CCryptoBoringSSL_ERR_peek_error() -> UInt32
