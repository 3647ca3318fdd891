import Foundation
import Testing

@testable import KeychainCrypto

/// The primitives against the vectors of the documents that define them.
@Suite struct StandardVectorTests {
    @Test("Keys are wrapped and unwrapped as RFC 3394 says, and a flipped byte is noticed")
    func keyWrap() throws {
        for vector in try Vectors.list("rfc3394", of: KeyWrapVector.self) {
            let (kek, key, wrapped) = (vector.kek.data, vector.keyData.data, vector.wrapped.data)
            #expect(wrap(key, under: kek) == wrapped)
            #expect(unwrap(wrapped, under: kek) == key)
            for place in wrapped.indices { #expect(unwrap(wrapped.flipping(place), under: kek) == nil) }
            #expect(unwrap(wrapped, under: kek.flipping(0)) == nil)
        }
    }

    @Test("Only keys of 32 bytes are wrapped, and only their 40 bytes unwrapped")
    func keyWrapLengths() {
        let kek = Data(count: 32)
        for count in [0, 16, 24, 31, 33, 40] { #expect(wrap(Data(count: count), under: kek) == nil) }
        for count in [0, 24, 39, 41, 48] { #expect(unwrap(Data(count: count), under: kek) == nil) }
    }

    @Test("The keyed hash extracts, and expands to one block, as RFC 5869 says")
    func derivation() throws {
        for vector in try Vectors.list("rfc5869", of: DerivationVector.self) {
            let extracted = vector.salt.data.withUnsafeBytes { salt in
                var hash = KeyedHash(key: salt)
                vector.ikm.data.withUnsafeBytes { hash.update($0) }
                return hash.finalize { Data($0) }
            }
            #expect(extracted == vector.prk.data)
            let expanded = extracted.withUnsafeBytes { key in
                vector.info.data.withUnsafeBytes { info in
                    KeyedHash.withExpanded(key, info: info) { Data($0) }
                }
            }
            #expect(expanded == vector.okm.data.prefix(32))
        }
    }

    @Test("X25519 multiplies as RFC 7748, section 5.2 says")
    func curve() throws {
        let vectors = try Vectors.list("rfc7748", of: CurveVector.self).filter { $0.scalar != nil }
        #expect(vectors.count == 2)
        for vector in vectors {
            let (scalar, point) = (try #require(vector.scalar).data, try #require(vector.uCoordinate).data)
            #expect(agree(scalar, point).shared == vector.result?.data)
        }
    }

    @Test("X25519 gives the results of RFC 7748, section 5.2 after many rounds")
    func iteratedCurve() throws {
        let vectors = try Vectors.list("rfc7748", of: CurveVector.self).filter { $0.iterations != nil }
        #expect(vectors.map(\.iterations) == [1, 1000])
        for vector in vectors {
            var scalar = try #require(vector.initialScalar).data
            var point = try #require(vector.initialUCoordinate).data
            for _ in 0..<(vector.iterations ?? 0) { (scalar, point) = (agree(scalar, point).shared, scalar) }
            #expect(scalar == vector.result?.data)
        }
    }

    @Test("Two sides agree on the key of RFC 7748, section 6.1")
    func agreement() throws {
        let vectors = try Vectors.list("rfc7748", of: CurveVector.self)
        let vector = try #require(vectors.first { $0.sharedSecret != nil })
        let (alice, bob) = (try #require(vector.alicePrivateKey).data, try #require(vector.bobPrivateKey).data)
        #expect(publicKey(of: alice) == vector.alicePublicKey?.data)
        #expect(publicKey(of: bob) == vector.bobPublicKey?.data)
        #expect(agree(alice, publicKey(of: bob)).shared == vector.sharedSecret?.data)
        #expect(agree(bob, publicKey(of: alice)).shared == vector.sharedSecret?.data)
    }

    /// Points of small order: with them the result would be zero whatever the private key is.
    @Test(
        "X25519 refuses points that would give zero, and leaves zeros behind",
        arguments: [
            String(repeating: "00", count: 32),
            "01" + String(repeating: "00", count: 31),
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ec" + String(repeating: "ff", count: 30) + "7f",
        ])
    func lowOrder(point: String) {
        let (isAgreed, shared) = agree(Data(repeating: 0x77, count: 32), Data(hex: point))
        #expect(!isAgreed)
        #expect(shared == Data(count: 32))
    }

    @Test("Passcodes are stretched as RFC 7914 says")
    func scrypt() throws {
        for vector in try Vectors.list("rfc7914", of: ScryptVector.self) {
            let cost = UInt8(vector.N.trailingZeroBitCount)
            let key = stretch(
                vector.passphrase.data, vector.salt.data, cost: cost, vector.r, vector.p, byteCount: vector.length)
            #expect(key == vector.derivedKey.data)
        }
    }

    @Test("Parameters that scrypt does not have are refused")
    func scryptParameters() {
        let (passcode, salt) = (Data("passcode".utf8), Data(count: 32))
        let refused: [(UInt8, UInt32, UInt32)] = [
            (0, 8, 1), (32, 8, 1), (255, 8, 1), (4, 0, 1), (4, 8, 0), (20, .max, .max),
        ]
        for (cost, r, p) in refused { #expect(stretch(passcode, salt, cost: cost, r, p) == nil) }
    }
}

// MARK: - The primitives with data

extension StandardVectorTests {
    private func wrap(_ key: Data, under wrappingKey: Data) -> Data? {
        var wrapped = Data(count: AESKeyWrap.wrappedByteCount)
        let isWrapped = wrapped.withUnsafeMutableBytes { target in
            key.withUnsafeBytes { key in
                wrappingKey.withUnsafeBytes { AESKeyWrap.wrap(key, under: $0, into: target) }
            }
        }
        return isWrapped ? wrapped : nil
    }

    private func unwrap(_ wrapped: Data, under wrappingKey: Data) -> Data? {
        var key = Data(count: 32)
        let isUnwrapped = key.withUnsafeMutableBytes { target in
            wrapped.withUnsafeBytes { wrapped in
                wrappingKey.withUnsafeBytes { AESKeyWrap.unwrap(wrapped, under: $0, into: target) }
            }
        }
        return isUnwrapped ? key : nil
    }

    private func publicKey(of privateKey: Data) -> Data {
        var publicKey = Data(count: X25519.byteCount)
        publicKey.withUnsafeMutableBytes { target in
            privateKey.withUnsafeBytes { X25519.publicKey(of: $0, into: target) }
        }
        return publicKey
    }

    private func agree(_ privateKey: Data, _ publicKey: Data) -> (isAgreed: Bool, shared: Data) {
        var shared = Data(repeating: 0xff, count: X25519.byteCount)
        let isAgreed = shared.withUnsafeMutableBytes { target in
            privateKey.withUnsafeBytes { privateKey in
                publicKey.withUnsafeBytes { X25519.agree(privateKey, with: $0, into: target) }
            }
        }
        return (isAgreed, shared)
    }

    private func stretch(
        _ passcode: Data, _ salt: Data, cost: UInt8, _ blockSize: UInt32, _ parallelism: UInt32, byteCount: Int = 32
    ) -> Data? {
        var key = Data(count: byteCount)
        let isDerived = key.withUnsafeMutableBytes { target in
            passcode.withUnsafeBytes { passcode in
                salt.withUnsafeBytes { salt in
                    Scrypt.derive(
                        passcode, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism, into: target)
                }
            }
        }
        return isDerived ? key : nil
    }
}

// MARK: - The vectors

private struct KeyWrapVector: Decodable {
    let kek, keyData, wrapped: HexBytes
}

private struct DerivationVector: Decodable {
    let ikm, salt, info, prk, okm: HexBytes
}

/// One of three kinds.
private struct CurveVector: Decodable {
    let scalar, uCoordinate, result: HexBytes?
    let initialScalar, initialUCoordinate: HexBytes?
    let iterations: Int?
    let alicePrivateKey, alicePublicKey, bobPrivateKey, bobPublicKey, sharedSecret: HexBytes?
}

private struct ScryptVector: Decodable {
    let passphrase, salt, derivedKey: HexBytes
    let N: Int
    let r, p: UInt32
    let length: Int
}
