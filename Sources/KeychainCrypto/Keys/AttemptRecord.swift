package import FoundationEssentials
internal import KeychainModel

/// The wrong passcodes since the last right one: what lies in the file `attempts` (docs/keybag-format.md).
package struct AttemptRecord: Sendable, Equatable {
    package var count: UInt16
    /// When the last one that counts was made: nanoseconds since the system started.
    package var time: UInt64
    /// The start of the system that the time counts from.
    package var bootID: UUID
    /// The fingerprint of the last wrong passcode. It tells that the same passcode came again, and nothing else.
    package var fingerprint: Data?
    /// The count is a guess, because the record before this one was damaged: it must not lead to an erasure.
    package var isAfterDamage: Bool

    package init(
        count: UInt16, time: UInt64, bootID: UUID, fingerprint: Data? = nil, isAfterDamage: Bool = false
    ) {
        self.count = count
        self.time = time
        self.bootID = bootID
        self.fingerprint = fingerprint
        self.isAfterDamage = isAfterDamage
    }
}

extension AttemptRecord {
    private static let magic = Array("ATTEMPTS".utf8)
    private static let byteCount = 115

    /// The file's bytes, authenticated under the device key.
    package func encoded(storeID: UUID, deviceKey: KeyMaterial) -> Data {
        var bytes = Data(Self.magic)
        withUnsafeBytes(of: storeID.uuid) { bytes.append(contentsOf: $0) }
        bytes.append(bigEndian: count)
        bytes.append(bigEndian: time)
        withUnsafeBytes(of: bootID.uuid) { bytes.append(contentsOf: $0) }
        bytes.append((fingerprint == nil ? 0 : 1) | (isAfterDamage ? 2 : 0))
        bytes.append(fingerprint ?? Data(count: KeyedHash.byteCount))
        bytes.append(deviceKey.tag(of: bytes, "attempts 1", KeyContext(storeID)))
        return bytes
    }

    /// - Returns: nil for anything that is not an intact record of this store.
    package init?(decoding bytes: Data, storeID: UUID, deviceKey: KeyMaterial) {
        var reader = ByteReader(bytes)
        let content = bytes.dropLast(KeyedHash.byteCount)
        guard bytes.count == Self.byteCount, reader.take(Self.magic.count).map(Array.init) == Self.magic,
            reader.identifier() == storeID,
            Keybag.isEqual(
                bytes.suffix(KeyedHash.byteCount), deviceKey.tag(of: content, "attempts 1", KeyContext(storeID))),
            let count = reader.integer(UInt16.self), let time = reader.integer(UInt64.self),
            let bootID = reader.identifier(), let marks = reader.integer(UInt8.self),
            let fingerprint = reader.take(KeyedHash.byteCount)
        else { return nil }
        self.init(
            count: count, time: time, bootID: bootID, fingerprint: marks & 1 == 1 ? fingerprint : nil,
            isAfterDamage: marks & 2 == 2)
    }
}
