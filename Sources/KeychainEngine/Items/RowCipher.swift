internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import KeychainWire

/// Turns stored rows into items, and back.
package struct RowCipher {
    var keys: KeySession
    let storeID: UUID
    let randomness: any Randomness
    /// The keys that an authentication adds to the key of a constrained secret.
    let constraints: ConstraintKeys

    /// How much of a row is opened, once its metadata is known.
    package enum Verdict {
        case nothing, metadata
        /// The secret too. If an authentication is part of the secret's key, only the key is checked.
        case everythingFree
        case everything
    }

    /// Opens a row's metadata, and its secret if `judge` says so.
    ///
    /// - Returns: nil if `judge` wants nothing.
    /// - Throws: `.decode` if the row differs from the one that was written for this place, `.interactionNotAllowed` if
    ///   its key is locked away.
    package func open(
        _ row: StoredRow, as itemClass: ItemClass, _ judge: (Item) -> Verdict
    ) throws(KeychainError) -> OpenedRow? {
        let binding = try binding(of: row, itemClass)
        return try keys.withClassKey(binding.accessControl.protection, generation: row.generation) {
            key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding) { sealer throws(KeychainError) in
                try open(row, binding, sealer, judge)
            }
        }
    }

    private func open(
        _ row: StoredRow, _ binding: RowBinding, _ sealer: RowSealer, _ judge: (Item) -> Verdict
    ) throws(KeychainError) -> OpenedRow? {
        var (item, secretTag) = try sealer.openMetadata(wrappedKey: row.metadataKey, box: row.metadata)
        // A row without its secret half must not pass for an item without a secret.
        guard (secretTag != nil) == row.hasSecret else { throw Self.damaged("one half is missing") }
        switch judge(item) {
        case .nothing: return nil
        case .metadata: break
        case .everythingFree where binding.accessControl.isSealedWithAuthentication:
            try requireIntactSecret(of: row, secretTag, sealer)
        case .everything, .everythingFree:
            if let secretTag { item.secret = try secret(of: row, secretTag, sealer) }
        }
        return OpenedRow(id: row.id, version: row.version, generation: row.generation, item: item)
    }

    private func secret(
        of row: StoredRow, _ tag: Data, _ sealer: RowSealer
    ) throws(KeychainError) -> SecretBytes {
        guard let key = row.secretKey, let box = row.secret else { throw Self.damaged("one half is missing") }
        try requireTag(tag, of: box)
        return try sealer.openSecret(wrappedKey: key, box: box, constraints: constraints)
    }

    private func requireIntactSecret(
        of row: StoredRow, _ tag: Data?, _ sealer: RowSealer
    ) throws(KeychainError) {
        guard let tag, let key = row.secretKey else { return }
        if let box = row.secret { try requireTag(tag, of: box) }
        guard sealer.isIntact(secretKey: key) else { throw Self.damaged("the key of its secret does not open") }
    }

    private func requireTag(_ tag: Data, of box: UnsafeRawBufferPointer) throws(KeychainError) {
        guard tag.withUnsafeBytes({ $0.hasSameBytes(as: SealedHalf.tag(ofBox: box)) }) else {
            throw Self.damaged("its halves are of two items")
        }
    }

    /// A row's statements about itself, which are not authentic before the row is opened.
    func binding(of row: StoredRow, _ itemClass: ItemClass) throws(KeychainError) -> RowBinding {
        guard let uuid = row.uuid else { throw Self.damaged("its id is not a UUID") }
        let expires = row.hasExpiry ? row.expires : nil
        guard row.hasExpiry == (expires != nil) else { throw Self.damaged("its date of expiry is none") }
        return RowBinding(
            storeID: storeID, rowID: uuid, itemClass: itemClass,
            accessControl: try AccessControl(canonicalBytes: row.access), version: row.version, expires: expires)
    }

    /// Whether the key of a row's metadata was wrapped for this row, this access control and this generation of keys.
    /// False if there is no such generation.
    ///
    /// - Throws: `.interactionNotAllowed` if the generation's key is locked away.
    func keyOpens(
        _ row: StoredRow, _ control: AccessControl, generation: UInt32
    ) throws(KeychainError) -> Bool {
        guard let uuid = row.uuid, keys.exists(control.protection, generation: generation) else { return false }
        // The class and the version are no part of the binding of a wrapped key.
        let binding = RowBinding(
            storeID: storeID, rowID: uuid, itemClass: .genericPassword, accessControl: control, version: row.version)
        return try keys.withClassKey(control.protection, generation: generation) { key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding) { $0.isIntact(metadataKey: row.metadataKey) }
        }
    }

    /// Seals an item with fresh keys.
    func seal(
        _ item: Item, version: Int64
    ) throws(KeychainError) -> (metadata: SealedHalf, secret: SealedHalf?) {
        let binding = RowBinding(
            storeID: storeID, rowID: item.identifier, itemClass: item.itemClass, accessControl: item.accessControl,
            version: version, expires: item.expires)
        return try keys.withSealingKey(item.accessControl.protection) { key throws(KeychainError) in
            try RowSealer.with(classKey: key, binding) { sealer throws(KeychainError) in
                let secret = try item.secret?.withUnsafeBytes { bytes throws(KeychainError) in
                    try sealer.seal(bytes, as: .secret, constraints: constraints, randomness: randomness)
                }
                let encoded = item.encodedMetadata(secretTag: secret?.tag)
                    .withUnsafeBytes { SecretBytes(copying: $0) }
                let sealed = try encoded.withUnsafeBytes { bytes throws(KeychainError) in
                    try sealer.seal(bytes, as: .metadata, randomness: randomness)
                }
                return (sealed, secret)
            }
        }
    }

    private static func damaged(_ reason: String) -> KeychainError {
        KeychainError(.decode, message: "a stored item is damaged or was tampered with: \(reason)")
    }
}
