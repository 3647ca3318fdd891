internal import CKeychainLinux
internal import Crypto
package import Foundation
package import KeychainModel

/// The keys of a store, wrapped: what lies in the file `keybag`.
///
/// docs/store-format.md gives the bytes. Every entry names how its key is wrapped, so that keys behind a
/// passcode, and file keys with a public half, become further entries of the same format.
package struct Keybag: Sendable, Equatable {
    package static let formatVersion: UInt16 = 1

    package var storeID: UUID
    /// Counts the replacements of the file.
    package var generation: UInt64
    package var entries: [Entry]

    package struct Entry: Sendable, Equatable {
        package var key: KeyName
        package var wrap: Wrap
        /// Counts the renewals of this key.
        package var generation: UInt32
        package var wrappedKey: Data
        /// Empty for a symmetric key.
        package var publicKey: Data
    }

    /// Under what a key of the bag is wrapped.
    package enum Wrap: UInt8, Sendable { case deviceKey = 1 }
}

/// The keys a keybag holds.
package enum KeyName: Sendable, Hashable {
    case itemClass(Protection)
    case index(IndexTier)

    /// Apple's class numbers 6 to 12, and 32 upwards for the index keys. File classes will be 1 to 4.
    package var number: UInt8 {
        switch self {
        case .itemClass(let protection): protection.number
        case .index(let tier): 31 + tier.rawValue
        }
    }

    package init?(number: UInt8) {
        if let protection = Protection(number: number) {
            self = .itemClass(protection)
        } else if number > 31, let tier = IndexTier(rawValue: number - 31) {
            self = .index(tier)
        } else {
            return nil
        }
    }

    /// The keys a store without a passcode has.
    package static let withoutPasscode: [KeyName] =
        Protection.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }.map { .itemClass($0) }
        + IndexTier.allCases.map { .index($0) }
}

extension Keybag {
    /// A bag of fresh keys for a new store, wrapped under the device key.
    package static func make(
        storeID: UUID, deviceKey: KeyMaterial, randomness: some Randomness
    ) throws -> Keybag {
        let entries = try KeyName.withoutPasscode.map { name in
            let key = try KeyMaterial(from: randomness)
            return Entry(
                key: name, wrap: .deviceKey, generation: 1,
                wrappedKey: try wrap(key, name: name, storeID: storeID, deviceKey: deviceKey), publicKey: Data())
        }
        return Keybag(storeID: storeID, generation: 1, entries: entries)
    }

    /// Unwraps every key that the device key alone opens.
    ///
    /// - Throws: `.decode` if one does not open.
    package func unwrap(deviceKey: KeyMaterial) throws -> [KeyName: KeyMaterial] {
        var keys: [KeyName: KeyMaterial] = [:]
        for entry in entries where entry.wrap == .deviceKey {
            let wrappingKey = Self.wrappingKey(name: entry.key, storeID: storeID, deviceKey: deviceKey)
            do {
                let key = try AES.KeyWrap.unwrap(entry.wrappedKey, using: wrappingKey)
                keys[entry.key] = try KeyMaterial { target in key.withUnsafeBytes { target.copyMemory(from: $0) } }
            } catch let error as KeychainError {
                throw error
            } catch {
                throw KeychainError(.decode, message: "a key in the keybag does not open", cause: error)
            }
        }
        return keys
    }

    private static func wrap(
        _ key: KeyMaterial, name: KeyName, storeID: UUID, deviceKey: KeyMaterial
    ) throws -> Data {
        try key.withUnsafeBytes { bytes in
            try AES.KeyWrap.wrap(
                SymmetricKey(data: bytes), using: wrappingKey(name: name, storeID: storeID, deviceKey: deviceKey))
        }
    }

    /// HKDF-Expand(device key, "class key 1" ‖ store id ‖ number of the key).
    private static func wrappingKey(name: KeyName, storeID: UUID, deviceKey: KeyMaterial) -> SymmetricKey {
        deviceKey.derive("class key 1", storeID, name.number)
    }
}

extension KeyMaterial {
    fileprivate func derive(_ label: String, _ storeID: UUID, _ number: UInt8) -> SymmetricKey {
        let info = Array(label.utf8) + Swift.withUnsafeBytes(of: storeID.uuid) { Array($0) } + [number]
        return info.withUnsafeBytes { info in withUnsafeBytes { KeyedHash.deriveKey(from: $0, info: info) } }
    }
}

// MARK: - Bytes

extension Keybag {
    private static let magic = Array("KEYBAG\r\n".utf8)
    private static let tagCount = 32

    /// The file's bytes, authenticated under the device key.
    package func encoded(deviceKey: KeyMaterial) -> Data {
        var bytes = Data(Self.magic)
        bytes.append(bigEndian: Self.formatVersion)
        withUnsafeBytes(of: storeID.uuid) { bytes.append(contentsOf: $0) }
        bytes.append(bigEndian: generation)
        bytes.append(bigEndian: UInt16(entries.count))
        for entry in entries {
            bytes.append(entry.key.number)
            bytes.append(entry.wrap.rawValue)
            bytes.append(bigEndian: entry.generation)
            bytes.append(bigEndian: UInt16(entry.wrappedKey.count))
            bytes.append(entry.wrappedKey)
            bytes.append(bigEndian: UInt16(entry.publicKey.count))
            bytes.append(entry.publicKey)
        }
        bytes.append(Self.tag(of: bytes, storeID: storeID, deviceKey: deviceKey))
        return bytes
    }

    /// - Throws: `.notAvailable` for a newer format, `.decode` for anything that is not an intact keybag
    ///   of this device key.
    package init(decoding bytes: Data, deviceKey: KeyMaterial) throws(KeychainError) {
        var reader = ByteReader(bytes)
        guard reader.take(Self.magic.count).map({ Array($0) }) == Self.magic, let version = reader.integer(UInt16.self)
        else { throw Self.damaged("it does not begin as one") }
        guard version <= Self.formatVersion else {
            throw KeychainError(
                .notAvailable,
                message:
                    "the keybag has format \(version), and this program knows formats up to \(Self.formatVersion): "
                    + "a newer version of keychain made it")
        }
        guard version == Self.formatVersion, let storeID = reader.identifier() else {
            throw Self.damaged("its header is cut short")
        }
        guard bytes.count > Self.tagCount,
            Self.isEqual(
                bytes.suffix(Self.tagCount),
                Self.tag(of: bytes.dropLast(Self.tagCount), storeID: storeID, deviceKey: deviceKey))
        else { throw Self.damaged("it was changed, or belongs to another device key") }
        guard let generation = reader.integer(UInt64.self), let count = reader.integer(UInt16.self) else {
            throw Self.damaged("its header is cut short")
        }
        self.storeID = storeID
        self.generation = generation
        self.entries = []
        for _ in 0..<count { entries.append(try Self.entry(from: &reader)) }
        guard reader.remaining == Self.tagCount else { throw Self.damaged("bytes follow its last entry") }
    }

    private static func entry(from reader: inout ByteReader) throws(KeychainError) -> Entry {
        guard let number = reader.integer(UInt8.self), let wrapNumber = reader.integer(UInt8.self),
            let generation = reader.integer(UInt32.self),
            let wrappedCount = reader.integer(UInt16.self), let wrapped = reader.take(Int(wrappedCount)),
            let publicCount = reader.integer(UInt16.self), let publicKey = reader.take(Int(publicCount)),
            let key = KeyName(number: number), let wrap = Wrap(rawValue: wrapNumber)
        else { throw damaged("an entry is not readable") }
        return Entry(key: key, wrap: wrap, generation: generation, wrappedKey: wrapped, publicKey: publicKey)
    }

    /// HMAC-SHA-256 under HKDF-Expand(device key, "keybag 1" ‖ store id ‖ 0).
    static func tag(of bytes: Data, storeID: UUID, deviceKey: KeyMaterial) -> Data {
        deviceKey.derive("keybag 1", storeID, 0).withUnsafeBytes { key in
            var hash = KeyedHash(key: key)
            bytes.withUnsafeBytes { hash.update($0) }
            return hash.finalize { Data($0) }
        }
    }

    private static func isEqual(_ a: Data, _ b: Data) -> Bool {
        a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func damaged(_ reason: String) -> KeychainError {
        KeychainError(.decode, message: "the file keybag is not usable: \(reason)")
    }
}

extension Data {
    fileprivate mutating func append(bigEndian integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }
}
