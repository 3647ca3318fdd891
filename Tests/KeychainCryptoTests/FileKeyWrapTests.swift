import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

/// The keys of files, wrapped: against values that another implementation computed, and against every change of them.
@Suite struct FileKeyWrapTests {
    private let example: FileKeyExample

    init() throws { example = try Vectors.load("file-key-example") }

    @Test("Wrapping makes what another implementation made from the document", arguments: FileClass.allCases)
    func wrapping(fileClass: FileClass) throws {
        let expected = try example.key(of: fileClass)
        let wrapped = try wrap(fileClass)
        #expect(wrapped.publicKey == expected.publicKey.data)
        #expect(wrapped.wrappedKey == expected.wrappedKey.data)
    }

    @Test("What another implementation wrapped opens to its key", arguments: FileClass.allCases)
    func unwrapping(fileClass: FileClass) throws {
        #expect(try open(try example.wrapped(fileClass)) == example.fileKey.data)
    }

    @Test("The class key for an inactive user comes from class A's, as another implementation computed it")
    func inactiveClassKey() throws {
        let source = try example.key(of: .complete).classKey.data
        let expected = try example.key(of: .completeWhenUserInactive).classKey.data
        func key(_ fileClass: FileClass, _ storeID: UUID, _ generation: UInt32) -> Data {
            source.withUnsafeBytes { Keybag.withKey(of: fileClass, from: $0, storeID, generation) { Data($0) } }
        }
        let storeID = UUID(example.storeID.data)
        #expect(key(.completeWhenUserInactive, storeID, 2) == expected)
        #expect(key(.completeWhenUserInactive, storeID, 3) != expected)
        #expect(key(.completeWhenUserInactive, UUID(), 2) != expected)
        #expect(key(.complete, storeID, 2) == source)
    }

    @Test("With another store, file or class, another class key or any byte changed it does not open")
    func changes() throws {
        for fileClass in FileClass.allCases {
            let whole = try wrap(fileClass)
            #expect(try open(whole) == example.fileKey.data)
            var changed = whole
            changed.storeID = UUID()
            expectRefusal { try open(changed) }
            changed = whole
            changed.fileID = UUID()
            expectRefusal { try open(changed) }
            for other in FileClass.allCases where other != fileClass {
                changed = whole
                changed.fileClass = other
                // Under the class key that it was wrapped under, so that only what it says of itself is another one.
                expectRefusal { try open(changed, as: fileClass) }
                expectRefusal { try open(changed, as: other) }
            }
            for place in whole.wrappedKey.indices {
                changed = whole
                changed.wrappedKey = whole.wrappedKey.flipping(place)
                expectRefusal { try open(changed) }
            }
            for place in whole.publicKey.indices {
                changed = whole
                changed.publicKey = whole.publicKey.flipping(place)
                expectRefusal { try open(changed) }
            }
            expectRefusal { try open(whole, classKey: Data(repeating: 1, count: 32)) }
        }
    }

    @Test("The bit of a public key that the agreement does not look at cannot be changed either")
    func highestBit() throws {
        var wrapped = try example.wrapped(.completeUnlessOpen)
        wrapped.publicKey[31] ^= 0x80
        expectRefusal { try open(wrapped) }
    }

    /// Those of RFC 7748 and of its errata that give zero whatever the private key is.
    private static let weak: [Data] = [
        Data(count: 32), Data([1]) + Data(count: 31),
        Data(hex: "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        Data(hex: "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        Data(hex: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        Data(hex: "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        Data(hex: "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    ]

    @Test("A public key that agrees on zero with everybody is refused, in a file and in a keybag", arguments: weak)
    func weakKeys(publicKey: Data) throws {
        var wrapped = try example.wrapped(.completeUnlessOpen)
        wrapped.publicKey = publicKey
        expectRefusal { try open(wrapped) }
        // Also if it was wrapped under what would be agreed on.
        let wrap = FileKeyWrap(wrapped)
        let recipient = try #require(try example.key(of: .completeUnlessOpen).recipient).data
        let context = KeyContext(wrapped.storeID).adding(wrapped.fileID).adding(wrapped.fileClass.rawValue)
            .adding(publicKey).adding(recipient)
        var hash = (publicKey + recipient).withUnsafeBytes { KeyedHash(key: $0) }
        Data(count: 32).withUnsafeBytes { hash.update($0) }
        let extracted = try KeyMaterial.holding(hash.finalize { Data($0) })
        wrapped.wrappedKey = extracted.withDerived("file key B 1", context) { key in
            var made = Data(count: 40)
            made.withUnsafeMutableBytes { target in
                example.fileKey.data.withUnsafeBytes { #expect(AESKeyWrap.wrap($0, under: key, into: target)) }
            }
            return made
        }
        expectRefusal { try open(wrapped) }
        expectRefusal {
            try KeyMaterial.holding(example.fileKey.data).withUnsafeBytes { key throws(KeychainError) in
                try wrap.wrap(key, for: publicKey, randomness: SystemRandomness()).wrappedKey
            }
        }
    }

    @Test("Public keys of another size are refused")
    func sizes() throws {
        var wrapped = try example.wrapped(.completeUnlessOpen)
        for count in [0, 31, 33] {
            wrapped.publicKey = Data(repeating: 9, count: count)
            expectRefusal { try open(wrapped) }
        }
    }

    @Test("Each pair is a new one")
    func freshPairs() throws {
        let one = try wrap(.completeUnlessOpen, SystemRandomness())
        let other = try wrap(.completeUnlessOpen, SystemRandomness())
        #expect(one.publicKey != other.publicKey && one.wrappedKey != other.wrappedKey)
        #expect(try open(one) == example.fileKey.data)
    }
}

// MARK: - Parts

extension FileKeyWrapTests {
    private func wrap(
        _ fileClass: FileClass, _ randomness: (any Randomness)? = nil
    ) throws -> WrappedFileKey {
        let expected = try example.key(of: fileClass)
        var wrapped = try example.wrapped(fileClass)
        let wrap = FileKeyWrap(wrapped)
        let source: any Randomness =
            try randomness ?? RepeatedByte(byte: #require(example.ephemeral.data.first))
        let key = try KeyMaterial.holding(example.fileKey.data)
        let classKey = try KeyMaterial.holding(expected.classKey.data)
        if let recipient = expected.recipient?.data {
            (wrapped.publicKey, wrapped.wrappedKey) = try key.withUnsafeBytes { key throws(KeychainError) in
                try wrap.wrap(key, for: recipient, randomness: source)
            }
        } else {
            wrapped.wrappedKey = try key.withUnsafeBytes { key throws(KeychainError) in
                try classKey.withUnsafeBytes { classKey throws(KeychainError) in try wrap.wrap(key, under: classKey) }
            }
        }
        return wrapped
    }

    /// - Parameters:
    ///   - fileClass: In whose way it is opened, and with whose key; nil: the one that it says.
    private func open(
        _ wrapped: WrappedFileKey, as fileClass: FileClass? = nil, classKey: Data? = nil
    ) throws -> Data {
        let expected = try example.key(of: fileClass ?? wrapped.fileClass)
        let wrap = FileKeyWrap(wrapped)
        let classKey = try KeyMaterial.holding(classKey ?? expected.classKey.data)
        let opened = try KeyMaterial { target throws(KeychainError) in
            try classKey.withUnsafeBytes { classKey throws(KeychainError) in
                if let recipient = expected.recipient?.data {
                    try wrap.unwrap(
                        wrapped.wrappedKey, from: wrapped.publicKey, privateKey: classKey, recipient: recipient,
                        into: target)
                } else {
                    try wrap.unwrap(wrapped.wrappedKey, under: classKey, into: target)
                }
            }
        }
        return opened.data
    }

    private func expectRefusal(sourceLocation: SourceLocation = #_sourceLocation, of body: () throws -> some Any) {
        let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { _ = try body() }
        #expect(error?.code == .decode, sourceLocation: sourceLocation)
    }
}

extension FileKeyWrap {
    fileprivate init(_ wrapped: WrappedFileKey) {
        self.init(storeID: wrapped.storeID, fileID: wrapped.fileID, fileClass: wrapped.fileClass)
    }
}

private struct FileKeyExample: Decodable {
    let storeID, fileID, fileKey, ephemeral: HexBytes
    let keys: [Key]

    struct Key: Decodable {
        let `class`: UInt8
        let classKey, publicKey, wrappedKey: HexBytes
        let recipient: HexBytes?
    }

    func key(of fileClass: FileClass) throws -> Key {
        try #require(keys.first { $0.class == fileClass.rawValue })
    }

    func wrapped(_ fileClass: FileClass) throws -> WrappedFileKey {
        let key = try key(of: fileClass)
        return WrappedFileKey(
            fileID: UUID(fileID.data), storeID: UUID(storeID.data), fileClass: fileClass, generation: 2,
            publicKey: key.publicKey.data, wrappedKey: key.wrappedKey.data)
    }
}
