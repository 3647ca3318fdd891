package import FoundationEssentials
package import KeychainModel

/// The unwrapped keys of one tier, in one piece of key memory.
///
/// The memory holds a record of 37 bytes for each key: its number, its generation (big-endian), the key. The kernel's
/// keyring keeps these records, sealed.
package final class KeySet: @unchecked Sendable {  // its maker fills it before it shares it
    private static let recordByteCount = 1 + 4 + KeyMaterial.byteCount

    private let memory: KeyMemory
    private var count = 0

    /// The size of the keys of one tier in ``Keybag/mostGenerationsInUse``, and in the one that follows an erasure.
    static let byteCount = 1024

    package init() throws(KeychainError) { memory = try KeyMemory(byteCount: Self.byteCount) }

    package var memoryKind: KeyMemoryKind { memory.kind }

    private var records: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<(count * Self.recordByteCount)])
    }

    /// - Parameter fill: Fills 32 bytes. If it throws, nothing was added.
    package func add(
        _ name: KeyName, generation: UInt32, filling fill: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let start = count * Self.recordByteCount
        guard start + Self.recordByteCount <= memory.bytes.count else {
            throw KeychainError(.internalFailure, message: "there are more keys than a set has room for")
        }
        let record = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[start..<(start + Self.recordByteCount)])
        record[0] = name.number
        record.storeBytes(of: generation.bigEndian, toByteOffset: 1, as: UInt32.self)
        try fill(UnsafeMutableRawBufferPointer(rebasing: record[5...]))
        count += 1
    }

    /// Calls `body` with a key, if the set has it.
    package func withKey<R, E: Error>(
        _ name: KeyName, generation: UInt32, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R? {
        guard let start = offset(of: name, generation) else { return nil }
        return try body(
            UnsafeRawBufferPointer(rebasing: memory.bytes[(start + 5)..<(start + Self.recordByteCount)]))
    }

    package func contains(_ name: KeyName, generation: UInt32) -> Bool { offset(of: name, generation) != nil }

    /// The names and generations of the keys in the set.
    package var names: [(name: KeyName, generation: UInt32)] {
        (0..<count).compactMap { index in
            let start = index * Self.recordByteCount
            return KeyName(number: memory.bytes[start]).map { ($0, generation(at: start)) }
        }
    }

    private func offset(of name: KeyName, _ generation: UInt32) -> Int? {
        let number = name.number
        for index in 0..<count {
            let start = index * Self.recordByteCount
            if memory.bytes[start] == number && self.generation(at: start) == generation { return start }
        }
        return nil
    }

    private func generation(at start: Int) -> UInt32 {
        UInt32(bigEndian: memory.bytes.loadUnaligned(fromByteOffset: start + 1, as: UInt32.self))
    }
}

extension KeySet {
    /// The records under AES-256-GCM.
    package func sealed(
        under key: KeyMaterial, context: KeyContext, randomness: some Randomness
    ) throws(KeychainError) -> Data {
        var nonce = Data(count: AESGCM.nonceByteCount)
        try nonce.withUnsafeMutableBytesTyped { bytes throws(KeychainError) in try randomness.fill(bytes) }
        var box = Data(count: records.count + AESGCM.overhead)
        let isSealed = box.withUnsafeMutableBytes { box in
            nonce.withUnsafeBytes { nonce in
                key.withUnsafeBytes { key in
                    context.withUnsafeBytes { associated in
                        AESGCM.seal(
                            UnsafeRawBufferPointer(records), key: key, nonce: nonce, associated: associated, into: box)
                    }
                }
            }
        }
        guard isSealed else { throw KeychainError(.internalFailure, message: "the keys could not be sealed") }
        return box
    }

    /// - Returns: nil if ``sealed(under:context:randomness:)`` did not make the box with this key and context.
    package convenience init?(
        opening box: UnsafeRawBufferPointer, under key: KeyMaterial, context: KeyContext
    ) throws(KeychainError) {
        try self.init()
        let length = box.count - AESGCM.overhead
        guard length >= 0, length <= memory.bytes.count, length % Self.recordByteCount == 0 else { return nil }
        let isOpen = key.withUnsafeBytes { key in
            context.withUnsafeBytes { associated in
                AESGCM.open(
                    box, key: key, associated: associated,
                    into: UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<length]))
            }
        }
        guard isOpen else { return nil }
        count = length / Self.recordByteCount
    }
}

extension KeySet: Redacted {}

extension Data {
    /// As `withUnsafeMutableBytes`, for a body that throws errors of ours.
    package mutating func withUnsafeMutableBytesTyped<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        try withUnsafeMutableBytes { bytes in Result { () throws(KeychainError) in try body(bytes) } }.get()
    }
}
