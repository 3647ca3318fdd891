package import FoundationEssentials
package import KeychainModel

extension Keybag {
    package static let newestFormat: UInt16 = 2

    /// The format of the file: the first one that has all that is in the bag.
    package var format: UInt16 { policy.timeAfterLock == nil ? 1 : 2 }

    private static let magic = Array("KEYBAG\r\n".utf8)
    private static let tagCount = KeyedHash.byteCount

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let passcode = Flags(rawValue: 1)
        static let erasesAfterTenFailures = Flags(rawValue: 2)
        static let known: Flags = [.passcode, .erasesAfterTenFailures]
    }

    /// The file's bytes, authenticated under the device key.
    package func encoded(deviceKey: KeyMaterial) -> Data {
        var flags: Flags = []
        if passcode != nil { flags.insert(.passcode) }
        if policy.erasesAfterTenFailures { flags.insert(.erasesAfterTenFailures) }
        var bytes = Data(Self.magic)
        bytes.append(bigEndian: format)
        withUnsafeBytes(of: storeID.uuid) { bytes.append(contentsOf: $0) }
        bytes.append(bigEndian: generation)
        bytes.append(flags.rawValue)
        bytes.append(bigEndian: UInt32(clamping: policy.idleLimit ?? 0))
        if let time = policy.timeAfterLock { bytes.append(bigEndian: UInt32(clamping: time)) }
        bytes.append((passcode ?? .absent).encoded)
        bytes.append(bigEndian: UInt16(retired.count + entries.count + (consent == nil ? 0 : 1)))
        for entry in retired + entries {
            bytes.append(entry.key.number)
            bytes.append(entry.wrap.rawValue)
            bytes.append(bigEndian: entry.generation)
            bytes.append(bigEndian: UInt16(entry.wrappedKey.count))
            bytes.append(entry.wrappedKey)
            bytes.append(bigEndian: UInt16(entry.publicKey.count))
            bytes.append(entry.publicKey)
        }
        if let consent { bytes.append(consent.encoded) }
        bytes.append(Self.tag(of: bytes, storeID: storeID, deviceKey: deviceKey))
        return bytes
    }

    /// The last bytes of the file, which tell one keybag from every other.
    package func tag(deviceKey: KeyMaterial) -> Data { encoded(deviceKey: deviceKey).suffix(Self.tagCount) }

    /// - Throws: `.notAvailable` for a format of another version, `.decode` for anything that is not an intact keybag
    ///   of this device key.
    package init(decoding bytes: Data, deviceKey: KeyMaterial) throws(KeychainError) {
        var reader = ByteReader(bytes)
        let format = try Self.format(&reader)
        guard let storeID = reader.identifier() else { throw Self.damaged("its header is cut short") }
        guard bytes.count > Self.tagCount,
            Self.isEqual(
                bytes.suffix(Self.tagCount),
                Self.tag(of: bytes.dropLast(Self.tagCount), storeID: storeID, deviceKey: deviceKey))
        else { throw Self.damaged("it was changed or cut short, or belongs to another device key") }
        guard let generation = reader.integer(UInt64.self), let number = reader.integer(UInt8.self),
            let idleLimit = reader.integer(UInt32.self),
            let timeAfterLock = format == 1 ? 0 : reader.integer(UInt32.self),
            let parameters = PasscodeParameters(from: &reader), let count = reader.integer(UInt16.self)
        else { throw Self.damaged("its header is cut short") }
        let flags = Flags(rawValue: number)
        guard flags.isSubset(of: .known) else { throw Self.damaged("it has marks that are not defined") }
        self.init(
            storeID: storeID, generation: generation, passcode: flags.contains(.passcode) ? parameters : nil,
            policy: PasscodePolicy(
                idleLimit: idleLimit == 0 ? nil : Int(idleLimit),
                erasesAfterTenFailures: flags.contains(.erasesAfterTenFailures),
                timeAfterLock: format == 1 ? nil : Int(timeAfterLock)), entries: [])
        for number in 0..<count {
            // The last one, if there is one.
            var ahead = reader
            if number == count - 1, let consent = ConsentPair(from: &ahead) {
                (self.consent, reader) = (consent, ahead)
            } else {
                entries.append(try Self.entry(from: &reader))
            }
        }
        retired = Array(entries.prefix { $0.wrap == .successor })
        entries.removeFirst(retired.count)
        guard reader.remaining == Self.tagCount else { throw Self.damaged("bytes follow its last entry") }
        guard hasValidParameters(parameters), hasValidTime, isComplete, hasWholeChains else {
            throw Self.damaged("its entries do not go with its header")
        }
    }

    private func hasValidParameters(_ parameters: PasscodeParameters) -> Bool {
        guard passcode != nil else {
            return consent == nil && parameters.cost == 0 && parameters.blockSize == 0 && parameters.parallelism == 0
                && parameters.salt.allSatisfy { $0 == 0 }
        }
        return parameters.areReasonable
    }

    private var hasValidTime: Bool {
        policy.timeAfterLock.map { passcode != nil && PasscodePolicy.timesAfterLock.contains($0) } ?? true
    }

    /// Whether the bag has all keys of the newest generation, in order, each wrapped as its tier demands: a key behind
    /// the passcode that the device key opens would make any passcode seem right.
    private var isComplete: Bool {
        let newest = keyGeneration
        let needed = KeyName.all.filter { passcode != nil || !$0.needsPasscode }
        let isOrdered = zip(entries, entries.dropFirst()).allSatisfy {
            ($0.generation, $0.key.number) < ($1.generation, $1.key.number)
        }
        return newest > 0 && isOrdered && entries.filter { $0.generation == newest }.map(\.key) == needed
            && entries.allSatisfy { entry in
                let isBehindPasscode = passcode != nil && KeyTier.behindPasscode.contains(entry.key.tier)
                return entry.wrap == (isBehindPasscode ? .passcode : .deviceKey)
                    && entry.wrappedKey.count == AESKeyWrap.wrappedByteCount
                    && entry.publicKey.count == (entry.key.hasPublicHalf ? X25519.byteCount : 0)
            }
    }

    /// Whether the retired keys can have been retired: file class keys alone, older than all keys in use, and of each
    /// class every generation from the oldest to the newest. The oldest keys in use may be missing, but none between
    /// others, or the next key to be retired would have no successor.
    private var hasWholeChains: Bool {
        let areFormer = retired.allSatisfy { entry in
            entry.wrap == .successor && entry.generation > 0 && entry.key.isOfFiles
                && entry.generation < entries.first?.generation ?? 0
                && entry.wrappedKey.count == AESKeyWrap.wrappedByteCount
                && entry.publicKey.count == (entry.key.hasPublicHalf ? X25519.byteCount : 0)
        }
        let isOrdered = zip(retired, retired.dropFirst()).allSatisfy {
            ($0.generation, $0.key.number) < ($1.generation, $1.key.number)
        }
        var latest: [KeyName: UInt32] = [:]
        for entry in retired + entries where entry.key.isOfFiles {
            if let former = latest[entry.key], entry.generation != former &+ 1 { return false }
            latest[entry.key] = entry.generation
        }
        return areFormer && isOrdered
    }

    private static func format(_ reader: inout ByteReader) throws(KeychainError) -> UInt16 {
        guard reader.take(magic.count).map({ Array($0) }) == magic, let version = reader.integer(UInt16.self) else {
            throw damaged("it does not begin as one")
        }
        if 1...newestFormat ~= version { return version }
        let maker = version > newestFormat ? "a newer version of keychain made it" : "no version ever made that"
        throw KeychainError(
            .notAvailable,
            message: "the keybag has format \(version), and this program knows format \(newestFormat): \(maker)",
            signal: version > newestFormat ? .newerFormat : nil)
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

    /// HMAC-SHA-256 under Expand(device key, "keybag 1" ‖ store id ‖ 0).
    static func tag(of bytes: Data, storeID: UUID, deviceKey: KeyMaterial) -> Data {
        deviceKey.tag(of: bytes, "keybag 1", KeyContext(storeID).adding(UInt8(0)))
    }

    static func isEqual(_ a: Data, _ b: Data) -> Bool {
        a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func damaged(_ reason: String) -> KeychainError {
        KeychainError(.decode, message: "the file keybag is not usable: \(reason)")
    }
}

extension PasscodeParameters {
    /// The parameters of a passcode that is not set.
    fileprivate static let absent = PasscodeParameters(
        cost: 0, blockSize: 0, parallelism: 0, salt: Data(count: saltByteCount))

    /// 41 bytes.
    var encoded: Data {
        var bytes = Data([cost])
        bytes.append(bigEndian: blockSize)
        bytes.append(bigEndian: parallelism)
        bytes.append(salt)
        return bytes
    }

    /// nil if there are not enough bytes.
    init?(from reader: inout ByteReader) {
        guard let cost = reader.integer(UInt8.self), let blockSize = reader.integer(UInt32.self),
            let parallelism = reader.integer(UInt32.self), let salt = reader.take(Self.saltByteCount)
        else { return nil }
        self.init(cost: cost, blockSize: blockSize, parallelism: parallelism, salt: salt)
    }
}

extension KeyMaterial {
    /// HMAC-SHA-256 of some bytes under a key derived for that purpose.
    func tag(of bytes: Data, _ label: String, _ context: KeyContext) -> Data {
        var tag = Data(count: KeyedHash.byteCount)
        tag.withUnsafeMutableBytes { tag in
            bytes.withUnsafeBytes { writeTag(of: $0, label, context, to: tag) }
        }
        return tag
    }

    /// Writes the tag to 32 bytes of memory.
    func writeTag(
        of bytes: UnsafeRawBufferPointer, _ label: String, _ context: KeyContext, to tag: UnsafeMutableRawBufferPointer
    ) {
        withDerived(label, context) { key in
            var hash = KeyedHash(key: key)
            hash.update(bytes)
            hash.finalize(into: tag)
        }
    }
}

extension Data {
    package mutating func append(bigEndian integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }
}
