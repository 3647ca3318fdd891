internal import Foundation
internal import KeychainCrypto
internal import KeychainModel

/// Turns rows as they lie on disk into items, and back.
struct RowCipher {
    let keys: KeyStore
    let storeID: UUID
    let randomness: any Randomness

    /// What is wanted of a row, once its metadata is known.
    enum Verdict { case nothing, metadata, everything }

    /// Opens a row's metadata, and its secret if `judge` says so.
    ///
    /// - Returns: nil if nothing is wanted.
    /// - Throws: `.decode` if the row is not exactly what was written for this place.
    func open(
        _ row: StoredRow, as itemClass: ItemClass, _ judge: (OpenedRow) -> Verdict
    ) throws(KeychainError) -> OpenedRow? {
        guard let uuid = row.uuid else { throw Self.damaged("its id is not a UUID") }
        let accessControl = try AccessControl(canonicalBytes: row.access)
        // Not yet authentic: a row that claims a class without a key was edited, and must not fail a whole search.
        guard let classKey = keys.existingClassKey(for: accessControl.protection) else {
            throw Self.damaged("there is no key for the class it claims")
        }
        let sealer = RowSealer(
            classKey: classKey,
            binding: RowBinding(
                storeID: storeID, rowID: uuid, itemClass: itemClass, accessControl: accessControl, version: row.version)
        )
        let metadata = try sealer.openMetadata(wrappedKey: row.metadataKey, box: row.metadata)
        // The removal of one half must not pass for an item without a secret.
        guard metadata.hasSecret == row.hasSecret else { throw Self.damaged("one half is missing") }
        var opened = OpenedRow(
            id: row.id, uuid: uuid, version: row.version, itemClass: itemClass, accessControl: accessControl,
            metadata: metadata)
        switch judge(opened) {
        case .nothing: return nil
        case .metadata: break
        case .everything: if metadata.hasSecret { opened.secret = try secret(of: row, sealer) }
        }
        return opened
    }

    private func secret(of row: StoredRow, _ sealer: RowSealer) throws(KeychainError) -> SecretBytes {
        guard let key = row.secretKey, let box = row.secret else { throw Self.damaged("one half is missing") }
        return try sealer.openSecret(wrappedKey: key, box: box)
    }

    /// Seals an item with fresh keys.
    func seal(_ item: OpenedRow) throws(KeychainError) -> (metadata: SealedHalf, secret: SealedHalf?) {
        let sealer = try sealer(
            for: RowBinding(
                storeID: storeID, rowID: item.uuid, itemClass: item.itemClass, accessControl: item.accessControl,
                version: item.version))
        let encoded = SecretBytes(copying: try item.metadata.encoded())
        let metadata = try encoded.withUnsafeBytes { bytes throws(KeychainError) in
            try sealer.seal(bytes, as: .metadata, randomness: randomness)
        }
        let secret = try item.secret?.withUnsafeBytes { bytes throws(KeychainError) in
            try sealer.seal(bytes, as: .secret, randomness: randomness)
        }
        return (metadata, secret)
    }

    private func sealer(for binding: RowBinding) throws(KeychainError) -> RowSealer {
        RowSealer(classKey: try keys.classKey(for: binding.accessControl.protection), binding: binding)
    }

    private static func damaged(_ reason: String) -> KeychainError {
        KeychainError(.decode, message: "a stored item is damaged or was tampered with: \(reason)")
    }
}
