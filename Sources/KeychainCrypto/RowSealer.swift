package import FoundationEssentials
package import KeychainModel
internal import KeychainWire

/// Seals and opens the two halves of a row: the metadata, and the secret.
///
/// Each half has a random key of its own, so metadata can be read without the secret's key ever being
/// unwrapped. Both keys are wrapped under a key derived from the class key for this row, protection and
/// access control alone.
package struct RowSealer {
    package enum Half: UInt8, Sendable { case metadata = 1, secret = 2 }

    private let binding: RowBinding
    /// Valid for as long as the closure that was given the sealer runs.
    private let wrappingKey: UnsafeRawBufferPointer

    /// Calls `body` with a sealer for one row, whose wrapping key is erased afterwards.
    ///
    /// - Parameter classKey: The key of `binding.accessControl.protection`.
    package static func with<R>(
        classKey: UnsafeRawBufferPointer, _ binding: RowBinding, _ body: (RowSealer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        var result: R?
        // Without a result of a type that another module chose, all below is specialised.
        try withInfo(of: binding) { info throws(KeychainError) in
            try KeyedHash.withExpanded(classKey, info: info) { key throws(KeychainError) in
                result = try body(RowSealer(binding: binding, wrappingKey: key))
            }
        }
        return result!
    }
}

// MARK: - Sealing

extension RowSealer {
    /// - Parameter constraints: The keys that the access control of the item asks for when it is a secret.
    /// - Throws: `.authenticationFailed` if one of those keys is missing.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, as half: Half, constraints: ConstraintKeys = ConstraintKeys(),
        randomness: some Randomness
    ) throws(KeychainError) -> SealedHalf {
        try withErasedBytes(32 + AESGCM.nonceByteCount) { fresh throws(KeychainError) in
            try randomness.fill(fresh)
            let key = UnsafeRawBufferPointer(rebasing: fresh[..<32])
            let nonce = UnsafeRawBufferPointer(rebasing: fresh[32...])
            let count = PaddedBytes.paddedCount(plaintext.count, multiple: half.multiple)
            var box = Data(count: count + AESGCM.overhead)
            let isSealed = box.withUnsafeMutableBytes { box in
                PaddedBytes.withPadded(plaintext, multiple: half.multiple) { padded in
                    withAssociatedData(of: half) {
                        AESGCM.seal(padded, key: key, nonce: nonce, associated: $0, into: box)
                    }
                }
            }
            guard isSealed else { throw KeychainError(.internalFailure, message: "the item could not be sealed") }
            return SealedHalf(wrappedKey: try wrap(key, of: half, constraints, randomness), box: box)
        }
    }

    private func wrap(
        _ key: UnsafeRawBufferPointer, of half: Half, _ constraints: ConstraintKeys, _ randomness: some Randomness
    ) throws(KeychainError) -> Data {
        guard half == .secret, let constrained else { return try wrap(key) }
        return try withErasedBytes(constrained.byteCount) { inner throws(KeychainError) in
            try constrained.wrap(key, with: constraints, randomness: randomness, into: inner)
            return try wrap(UnsafeRawBufferPointer(inner))
        }
    }

    /// nil if the row's secret is sealed like every other.
    private var constrained: ConstrainedKeyWrap? {
        if binding.accessControl.flags.isEmpty { return nil }
        return ConstrainedKeyWrap(binding, digest: binding.accessControl.digest)
    }

    /// Wraps the key of a half of this row anew for another sealer of the row, as a renewal of keys needs it.
    package func rewrap(_ wrappedKey: UnsafeRawBufferPointer, for other: RowSealer) throws(KeychainError) -> Data {
        try withUnwrapped(wrappedKey) { key throws(KeychainError) in try other.wrap(key) }
    }

    private func wrap(_ key: UnsafeRawBufferPointer) throws(KeychainError) -> Data {
        var wrapped = Data(count: key.count + AESKeyWrap.overhead)
        let isWrapped = wrapped.withUnsafeMutableBytes { AESKeyWrap.wrap(key, under: wrappingKey, into: $0) }
        guard isWrapped else { throw KeychainError(.internalFailure, message: "a row's key could not be wrapped") }
        return wrapped
    }
}

// MARK: - Opening

extension RowSealer {
    /// - Throws: `.decode` if the bytes were not sealed for this row: they are damaged, edited, or another row's.
    package func openMetadata(
        wrappedKey: UnsafeRawBufferPointer, box: UnsafeRawBufferPointer
    ) throws(KeychainError) -> (item: Item, secretTag: Data?) {
        try open(.metadata, wrappedKey: wrappedKey, box: box) { bytes throws(KeychainError) in
            var decoded = try Item.decode(
                metadata: bytes, of: binding.itemClass, binding.rowID, binding.accessControl)
            decoded.item.expires = binding.expires
            return decoded
        }
    }

    /// - Throws: `.decode`, as ``openMetadata(wrappedKey:box:)``, or `.authenticationFailed` if something is missing or
    ///   wrong that the access control asks for.
    package func openSecret(
        wrappedKey: UnsafeRawBufferPointer, box: UnsafeRawBufferPointer,
        constraints: ConstraintKeys = ConstraintKeys()
    ) throws(KeychainError) -> SecretBytes {
        guard let constrained else {
            return try open(.secret, wrappedKey: wrappedKey, box: box) { bytes throws(KeychainError) in
                SecretBytes(copying: bytes)
            }
        }
        return try withUnwrapped(wrappedKey) { inner throws(KeychainError) in
            try withErasedBytes(32) { key throws(KeychainError) in
                try constrained.unwrap(inner, with: constraints, into: key)
                return try open(.secret, key: UnsafeRawBufferPointer(key), box: box) { bytes throws(KeychainError) in
                    SecretBytes(copying: bytes)
                }
            }
        }
    }

    /// Whether a secret's key was wrapped for this row, as far as that can be told without the keys that its access
    /// control asks for.
    package func isIntact(secretKey wrappedKey: UnsafeRawBufferPointer) -> Bool {
        isIntact(wrappedKey, byteCount: constrained?.byteCount ?? 32)
    }

    /// Whether a passcode or password that its access control asks for is part of a secret's key. The answer means
    /// nothing for a damaged key.
    package static func isConstrained(secretKey wrappedKey: UnsafeRawBufferPointer) -> Bool {
        wrappedKey.count > AESKeyWrap.wrappedByteCount
    }

    /// Whether the metadata's key was wrapped for this row. The item class and the version in ``RowBinding`` are not
    /// checked.
    package func isIntact(metadataKey wrappedKey: UnsafeRawBufferPointer) -> Bool {
        isIntact(wrappedKey, byteCount: 32)
    }

    private func isIntact(_ wrappedKey: UnsafeRawBufferPointer, byteCount: Int) -> Bool {
        let result = Result { () throws(KeychainError) in try withUnwrapped(wrappedKey) { $0.count == byteCount } }
        if case .success(true) = result { return true }
        return false
    }

    /// Calls `body` with the plaintext of one half, and erases it afterwards. Not offered to other modules, where
    /// it would not be specialised and cost a microsecond more.
    func open<R>(
        _ half: Half, wrappedKey: UnsafeRawBufferPointer, box: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        try withUnwrapped(wrappedKey) { key throws(KeychainError) in
            guard key.count == 32 else { throw Self.damaged }
            return try open(half, key: key, box: box, body)
        }
    }

    private func open<R>(
        _ half: Half, key: UnsafeRawBufferPointer, box: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        guard box.count >= AESGCM.overhead else { throw Self.damaged }
        return try withErasedBytes(box.count - AESGCM.overhead) { padded throws(KeychainError) in
            let isOpen = withAssociatedData(of: half) {
                AESGCM.open(box, key: key, associated: $0, into: padded)
            }
            guard isOpen else { throw Self.damaged }
            return try body(try PaddedBytes.content(of: UnsafeRawBufferPointer(padded)))
        }
    }

    private func withUnwrapped<R>(
        _ wrappedKey: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        guard wrappedKey.count >= AESKeyWrap.wrappedByteCount else { throw Self.damaged }
        return try withErasedBytes(wrappedKey.count - AESKeyWrap.overhead) { key throws(KeychainError) in
            guard AESKeyWrap.unwrap(wrappedKey, under: wrappingKey, into: key) else { throw Self.damaged }
            return try body(UnsafeRawBufferPointer(key))
        }
    }

    private static var damaged: KeychainError {
        KeychainError(.decode, message: "a stored item is damaged or was tampered with")
    }
}

// MARK: - Bindings

extension RowSealer.Half {
    /// Lengths are rounded up to this many bytes.
    fileprivate var multiple: Int {
        switch self {
        case .metadata: 64
        case .secret: 32
        }
    }
}

extension RowSealer {
    /// "row key 1" ‖ row id ‖ protection ‖ SHA-256 of the access control.
    private static func withInfo<R>(
        of binding: RowBinding, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        try withErasedBytes(9 + 16 + 1 + 32) { info throws(KeychainError) in
            info.copyBytes(from: "row key 1".utf8)
            info.store(binding.rowID, at: 9)
            info[25] = binding.accessControl.protection.number
            binding.accessControl.copyDigest(to: UnsafeMutableRawBufferPointer(rebasing: info[26...]))
            return try body(UnsafeRawBufferPointer(info))
        }
    }

    /// Store id ‖ row id ‖ item class ‖ protection ‖ half ‖ row version (big-endian), and ‖ date of expiry (big-endian) if
    /// there is one.
    private func withAssociatedData<R>(of half: Half, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let count = 16 + 16 + 3 + 8 + (binding.expires == nil ? 0 : 8)
        return withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { bytes in
            bytes.store(binding.storeID, at: 0)
            bytes.store(binding.rowID, at: 16)
            bytes[32] = binding.itemClass.number
            bytes[33] = binding.accessControl.protection.number
            bytes[34] = half.rawValue
            bytes.storeBytes(of: binding.version.bigEndian, toByteOffset: 35, as: Int64.self)
            if let expires = binding.expires {
                bytes.storeBytes(of: expires.milliseconds.bigEndian, toByteOffset: 43, as: UInt64.self)
            }
            return body(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension AccessControl {
    /// The digests of the access controls that nearly every item has, computed once.
    private static let plainDigests = Dictionary(
        uniqueKeysWithValues: Protection.allCases.map { ($0, digest(of: AccessControl($0))) })

    private static func digest(of accessControl: AccessControl) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256State.byteCount)
        accessControl.canonicalBytes.withUnsafeBytes { bytes in
            digest.withUnsafeMutableBytes { SHA256State.hash(bytes, into: $0) }
        }
        return digest
    }

    /// SHA-256 of ``canonicalBytes``.
    fileprivate var digest: Data { Data(Self.digest(of: self)) }

    fileprivate func copyDigest(to target: UnsafeMutableRawBufferPointer) {
        let plain = flags.isEmpty ? Self.plainDigests[protection] : nil
        target.copyBytes(from: plain ?? Self.digest(of: self))
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func store(_ identifier: UUID, at offset: Int) {
        storeBytes(of: identifier.uuid, toByteOffset: offset, as: uuid_t.self)
    }
}
