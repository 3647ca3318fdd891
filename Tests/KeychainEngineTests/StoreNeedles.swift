import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainCrypto

/// Every key of a store that must be nowhere while it is locked, computed from its files and the passcode.
struct StoreNeedles {
    private(set) var keys: [String: Data] = [:]

    /// The class and file keys of the tier that is there while unlocked, what the passcode becomes, and for each row of
    /// that tier the key that wraps its halves and the keys of both halves.
    ///
    /// - Parameter directory: Where `store` and `device` are.
    init(_ directory: URL, passcode: String) throws {
        let deviceKeyBytes = try Data(contentsOf: directory.appendingPathComponent("device/device-key"))
        let deviceKey = try KeyMaterial { $0.copyBytes(from: deviceKeyBytes) }
        let bag = try Keybag(
            decoding: try Data(contentsOf: directory.appendingPathComponent("store/keybag")), deviceKey: deviceKey)
        let parameters = try #require(bag.passcode)
        let derived = try PasscodeKey(.of(passcode), parameters, storeID: bag.storeID, deviceKey: deviceKey)
        keys["passcode key"] = derived.key.withUnsafeBytes { Data($0) }
        let all = try bag.unwrap(deviceKey: deviceKey, passcodeKey: derived.key)
        let unwrapped = all[.whenUnlocked]
        for (name, generation) in unwrapped.names {
            keys["class key \(name.number)"] = unwrapped.withKey(name, generation: generation) { Data($0) }
        }
        // Index keys stay in key memory from the first unlock on, and always; what HMAC makes of them nowhere.
        for tier in KeyTier.ofKeybag {
            for (name, generation) in all[tier].names { addStates(name, all[tier], generation) }
        }
        for row in try Self.rows(directory) {
            try add(row, unwrapped)
            try addPrivateNumber(row, unwrapped, bag.storeID)
        }
    }

    /// The states of HMAC that are as good as a key: of SHA-256 after its padded forms, eight words each.
    private mutating func addStates(_ name: KeyName, _ set: KeySet, _ generation: UInt32) {
        let states = set.withKey(name, generation: generation) { key in
            withUnsafeBytes(of: KeyedHash(key: key)) { Data($0) }
        }
        guard let states else { return }
        keys["inner state of key \(name.number)"] = Data(states.prefix(32))
        keys["outer state of key \(name.number)"] = Data(states.dropFirst(states.count / 2).prefix(32))
    }

    private static func rows(_ directory: URL) throws -> [SQLRow] {
        try TestDatabase(directory.appendingPathComponent("store/keychain.db"))
            .rows("SELECT id, uuid, access, generation, version, metadata_key, secret_key, secret FROM item")
    }

    private mutating func add(_ row: SQLRow, _ classKeys: KeySet) throws {
        let access = try #require(row["access"]?.bytes)
        let control = try AccessControl(canonicalBytes: access)
        guard control.protection.tier == .whenUnlocked else { return }
        let uuid = try #require(row["uuid"]?.bytes)
        let generation = try #require(row["generation"]?.number)
        var digest = Data(count: 32)
        access.withUnsafeBytes { access in digest.withUnsafeMutableBytes { SHA256State.hash(access, into: $0) } }
        let info = Data("row key 1".utf8) + uuid + [control.protection.number] + digest
        let rowKey = try #require(
            classKeys.withKey(.itemClass(control.protection), generation: UInt32(generation)) { classKey in
                info.withUnsafeBytes { info in KeyedHash.withExpanded(classKey, info: info) { Data($0) } }
            })
        let id = try #require(row["id"]?.number)
        keys["row key \(id)"] = rowKey
        keys["metadata key \(id)"] = try Self.unwrap(row["metadata_key"]?.bytes, rowKey)
        keys["secret key \(id)"] = try Self.unwrap(row["secret_key"]?.bytes, rowKey)
    }

    /// Of a key on P-256: the private number.
    private mutating func addPrivateNumber(_ row: SQLRow, _ classKeys: KeySet, _ storeID: UUID) throws {
        guard let id = row["id"]?.number, let uuid = row["uuid"]?.bytes, let access = row["access"]?.bytes,
            let generation = row["generation"]?.number, let version = row["version"]?.number,
            let wrapped = row["secret_key"]?.bytes, let box = row["secret"]?.bytes
        else { return }
        let control = try AccessControl(canonicalBytes: access)
        guard control.protection.tier == .whenUnlocked else { return }
        let binding = RowBinding(
            storeID: storeID, rowID: uuid.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) },
            itemClass: .key, accessControl: control, version: version)
        let secret = try classKeys.withKey(.itemClass(control.protection), generation: UInt32(generation)) { key in
            try RowSealer.with(classKey: key, binding) { sealer throws(KeychainError) in
                wrapped.withUnsafeBytes { wrapped in
                    // A row of another class does not open as a key.
                    box.withUnsafeBytes { try? sealer.openSecret(wrappedKey: wrapped, box: $0) }
                }
            }
        }
        guard let secret = secret ?? nil, secret.count == Curve.p256.privateByteCount else { return }
        keys["private number \(id)"] = secret.copyData().suffix(Curve.p256.fieldByteCount)
    }

    private static func unwrap(_ wrapped: Data?, _ key: Data) throws -> Data {
        let wrapped = try #require(wrapped)
        var unwrapped = Data(count: 32)
        let isUnwrapped = wrapped.withUnsafeBytes { wrapped in
            key.withUnsafeBytes { key in
                unwrapped.withUnsafeMutableBytes { AESKeyWrap.unwrap(wrapped, under: key, into: $0) }
            }
        }
        try #require(isUnwrapped)
        return unwrapped
    }
}
