internal import KeychainCrypto
internal import KeychainModel
internal import Logging

/// Keys that are made and used in the engine and never leave it (``Item/isKeptInEngine``). The keys are on P-256, as a
/// Secure Enclave's are.
///
/// The private number lies in the row's sealed secret, under its protection class. During its use it is in memory, in a
/// row that is erased and in the cipher library, which erases its own copy. An access control with `privateKeyUsage` is
/// judged at each use.
extension ItemOperations {
    /// The attributes of its keys that only the engine sets.
    private static let ownAttributes: Set<Attribute> = [
        .tokenID, .tokenObjectID, .keyClass, .type, .keySizeInBits, .effectiveKeySize, .applicationLabel,
    ]

    /// Makes a key pair, stores its private half, and returns it without its secret. An attribute has the public half.
    /// An application label in the request stays.
    func makeKey(_ request: AddRequest, from caller: Caller) throws -> Item {
        guard request.itemClass == .key, request.secret == nil, !request.synchronizable else {
            throw KeychainError(.parameter, message: "a key in the engine is no other item, and never leaves")
        }
        if let control = request.accessControl { try authentication.requireUsable(control, hasPasscode: hasPasscode) }
        let pair = try ECKey(generating: .p256)
        var request = request
        let label = request.attributes[.applicationLabel]
        for (attribute, value) in KeyItemAttributes(pair.curve, pointOfKeyInEngine: pair.point, label: label).all
            .entries
        where Self.ownAttributes.contains(attribute) || request.attributes[attribute] == nil {
            request.attributes[attribute] = value
        }
        request.secret = pair.privateBytes
        var item = try anyNewItem(request, from: caller)
        let sealed = try seal(item, version: 1)
        try write { try insert(item, sealed, on: $0) }
        item.secret = nil
        return item
    }

    /// Uses a key.
    ///
    /// - Returns: r ‖ s, or the X coordinate of the common point.
    /// - Throws: as ``Authentication/permits(_:_:_:hasPasscode:)``; `.itemNotFound` if the caller has no such key of the
    ///   engine; `.decode` for a key for other fingers or faces than are enrolled now; `.parameter` for a point that is
    ///   not on the curve.
    func use(_ use: KeyUse, from caller: Caller) throws -> SecretBytes {
        let scope = try AccessPolicy(caller: caller).scopeForReading(nil)
        var query = ItemQuery(.key)
        query.persistentReference = use.key
        query.synchronizable = .any
        let matcher = ItemMatcher(query: query, scope: scope)
        var secret: SecretBytes?
        try read { connection in
            try forEachCandidate(
                of: query, in: scope, on: connection, wantsSecrets: true,
                open: { try openForUse($0, matcher, use.authenticationUI) },
                { row in
                    secret = row.item.secret
                    return false
                })
        }
        guard let secret else { throw KeychainError(notFound: query) }
        return try Self.result(of: use.operation, secret)
    }

    /// - Returns: nil for a row that does not open, or is no key of the engine for this caller.
    private func openForUse(
        _ row: StoredRow, _ matcher: ItemMatcher, _ ui: ItemQuery.AuthenticationUI
    ) throws(KeychainError) -> OpenedRow? {
        guard matcher.mayMean(rowWith: row.access) else { return nil }
        var refusal: KeychainError?
        let opened: OpenedRow?
        do throws(KeychainError) {
            opened = try cipher.open(row, as: .key) { item in
                guard matcher.matches(item), item.isKeptInEngine else { return .nothing }
                do throws(KeychainError) {
                    if try authentication.permits(item.accessControl, .use, ui, hasPasscode: hasPasscode) {
                        return .everything
                    }
                    if try authentication.isInvalidated(item.accessControl) {
                        refusal = KeychainError(
                            .decode,
                            message: "the key was made for the fingers or faces of that time, and others are enrolled "
                                + "now: make a new key")
                    }
                } catch {
                    refusal = error
                }
                return .nothing
            }
        } catch  where error.code == .decode {
            logger.warning("a stored key does not open and is not used", metadata: ["row": "\(row.id)"])
            return nil
        }
        if let refusal { throw refusal }
        return opened
    }

    private static func result(
        of operation: KeyUse.Operation, _ secret: SecretBytes
    ) throws(KeychainError) -> SecretBytes {
        let key = try ECKey(.p256, authenticBytes: secret)
        switch operation {
        case .sign(let digest): return SecretBytes(copying: try key.signature(ofDigest: digest))
        case .agree(let point): return SecretBytes(copying: try key.sharedSecret(with: try ECKey(.p256, point: point)))
        }
    }

    // MARK: No other way in or out

    /// - Throws: `.parameter` for an item that claims to be a key of the engine.
    func requireNoKeyOfEngine(_ request: AddRequest) throws(KeychainError) {
        guard request.itemClass == .key else { return }
        guard !request.attributes.nameEngineToken, request.attributes[.tokenObjectID] == nil else {
            throw KeychainError(
                .parameter,
                message:
                    "a key with the token \(Item.engineToken) is made by the keychain itself (SecKeyCreateRandomKey)")
        }
    }

    /// - Throws: `.parameter` for changes that would turn a key of the engine into another key or let it out, or turn
    ///   another item into such a key; `.authenticationFailed` for an access control that would make the key unusable.
    func requireKeyStays(_ item: Item, _ changes: ItemChanges) throws(KeychainError) {
        guard item.itemClass == .key else { return }
        let isOthers = !changes.attributes.nameEngineToken && changes.attributes[.tokenObjectID] == nil
        let isSame =
            changes.secret == nil && changes.synchronizable != true
            && changes.attributes.entries.allSatisfy { !Self.ownAttributes.contains($0.attribute) }
        guard item.isKeptInEngine ? isSame : isOthers else {
            throw KeychainError(
                .parameter, message: "a key in the engine stays what it is, and no other key becomes one")
        }
        if item.isKeptInEngine, let control = changes.accessControl {
            try authentication.requireUsable(control, hasPasscode: hasPasscode)
        }
    }
}
