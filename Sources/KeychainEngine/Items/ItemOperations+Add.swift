internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import Logging

extension ItemOperations {
    func add(_ request: AddRequest, from caller: Caller) throws -> Item {
        let item = try newItem(request, from: caller)
        // The item is sealed before the lock is taken, so that a large secret keeps no other writer waiting.
        let sealed = try seal(item, version: 1)
        try write { try insert(item, sealed, on: $0) }
        return item
    }

    func insert(_ item: Item, _ sealed: (row: SealedRow, place: Placement), on connection: StoreConnection) throws {
        try makeRoom(for: item, at: sealed.place, replacing: nil, on: connection)
        try connection.insert(sealed.row)
    }

    func newItem(_ request: AddRequest, from caller: Caller) throws -> Item {
        try requireNoKeyOfEngine(request)
        return try anyNewItem(request, from: caller)
    }

    /// The new item of a request, which may also be a key that the engine has made.
    func anyNewItem(_ request: AddRequest, from caller: Caller) throws -> Item {
        let group = try AccessPolicy(caller: caller).groupForAdding(request.accessGroup)
        let now = configuration.clock.now
        let accessControl = try binding(
            request.accessControl ?? AccessControl(request.itemClass.defaultProtection(in: group)))
        return Item(
            itemClass: request.itemClass, identifier: try UUID(from: configuration.randomness),
            attributes: request.attributes.withUniquenessDefaults(of: request.itemClass), accessGroup: group,
            synchronizable: request.synchronizable, accessControl: accessControl, created: now, modified: now,
            expires: try request.expires.flatMap(date), secret: request.secret)
    }
}

// MARK: - Shared with updates

extension ItemOperations {
    /// - Throws: `.parameter` for attributes that exclude each other, `.dataTooLarge`, or `.interactionNotAllowed` if a
    ///   key that sealing needs is locked away.
    func seal(_ item: Item, version: Int64) throws(KeychainError) -> (row: SealedRow, place: Placement) {
        try item.requireConsistent()
        let place = try Placement(item, keys: keys)
        return (try seal(item, version: version, at: place), place)
    }

    func seal(_ item: Item, version: Int64, at place: Placement) throws(KeychainError) -> SealedRow {
        SealedRow(item, at: place.home, place.indexer, version: version, try cipher.seal(item, version: version))
    }

    /// - Throws: `.interactionNotAllowed` if an item that cannot be read may have the same unique attributes.
    func requireCertainty(_ place: Placement, _ itemClass: ItemClass, on connection: StoreConnection) throws {
        if place.isUncertain, try connection.hasItems(of: itemClass, tier: place.home.tier.other, besides: isExpired) {
            throw keys.lockedError(.afterFirstUnlock)
        }
    }

    /// Makes sure that no other item has the same unique attributes.
    ///
    /// - Throws: `.duplicateItem` if another item has them, `.interactionNotAllowed` if that item is locked, or an item
    ///   that cannot be read may have them. A row in the way that does not open is deleted, as in Apple's keychain.
    func makeRoom(
        for item: Item, at place: Placement, replacing id: Int64?, on connection: StoreConnection
    ) throws {
        try requireCertainty(place, item.itemClass, on: connection)
        for token in place.rivals {
            guard let other = try connection.item(withUniqueness: token), other != id else { continue }
            if try connection.withRow(other, isExpired) == true {
                try connection.giveUpName(other)
                continue
            }
            // The secret is opened too: an item whose secret is lost must not stand in the way of its replacement.
            let rival = try openRival(other, on: connection) { rival throws(KeychainError) in
                try hasUniqueness(token, rival)
            }
            if let rival, try !authentication.isInvalidated(rival.accessControl) {
                throw KeychainError(duplicateOf: item)
            }
            logger.warning("a stored item that does not open gives way to a new one", metadata: ["row": "\(other)"])
            try connection.delete(other)
        }
    }
}

extension ItemOperations {
    /// Whether the token is made of the item's unique attributes, under any key.
    func hasUniqueness(_ token: IndexToken, _ item: Item) throws(KeychainError) -> Bool {
        for tier in IndexTier.allCases {
            for indexer in try keys.indexers(for: tier) ?? [] where indexer.indexer.uniquenessToken(of: item) == token {
                return true
            }
        }
        return false
    }
}

extension Item {
    package func home(generation: UInt32) -> Home {
        Home(
            itemClass: itemClass, tier: accessControl.protection.indexTier, generation: generation,
            accessGroup: accessGroup, synchronizable: synchronizable)
    }

    fileprivate func requireConsistent() throws(KeychainError) {
        if synchronizable && accessControl.isConstrained {
            throw KeychainError(
                .parameter, message: "an item whose access control asks for authentication cannot be synchronizable")
        }
        let size = (secret?.count ?? 0) + attributes.byteCount
        guard size <= Item.mostBytes else {
            throw KeychainError(
                .dataTooLarge,
                message: "the item has \(size) bytes; the most one can have is \(Item.mostBytes)")
        }
    }
}

extension AttributeSet {
    /// Absent unique attributes get their defaults, which are returned too, as in Apple's keychain.
    func withUniquenessDefaults(of itemClass: ItemClass) -> AttributeSet {
        var attributes = self
        for rule in AttributeTable.table(for: itemClass).uniqueness where attributes[rule.attribute] == nil {
            // The two attributes have a default only in the comparison: Apple's keychain never returns them empty.
            if rule.attribute == .viewHint || rule.attribute == .tokenID { continue }
            attributes.append(rule.attribute, rule.uniquenessDefault!)
        }
        return attributes
    }
}

extension ItemClass {
    /// Apple's defaults: certificates are always accessible, everything else while the store is unlocked; the group of
    /// the push service is always accessible too.
    fileprivate func defaultProtection(in group: String) -> Protection {
        if group == "com.apple.apsd" { return .alwaysThisDeviceOnly }
        return self == .certificate ? .always : .whenUnlocked
    }
}

extension IndexTier {
    var other: IndexTier { self == .always ? .afterFirstUnlock : .always }
}

extension Indexer {
    func uniquenessToken(of item: Item) -> IndexToken {
        uniquenessToken(
            itemClass: item.itemClass, accessGroup: item.accessGroup,
            synchronizable: item.synchronizable, attributes: item.attributes)
    }
}

extension UUID {
    /// Sixteen random bytes with the marks of a random UUID (RFC 9562, section 5.4).
    init(from randomness: any Randomness) throws(KeychainError) {
        var bytes = UUID().uuid
        try withUnsafeMutableBytes(of: &bytes) { target throws(KeychainError) in
            try randomness.fill(target)
            target[6] = target[6] & 0x0f | 0x40
            target[8] = target[8] & 0x3f | 0x80
        }
        self.init(uuid: bytes)
    }
}

extension KeychainError {
    /// The message names the attributes that make an item of the class unique, since the status tells nothing about the
    /// clash.
    fileprivate init(duplicateOf item: Item) {
        let unique = AttributeTable.table(for: item.itemClass).uniqueness.map(\.attribute).filter {
            item.attributes[$0] != nil
        }
        self.init(
            .duplicateItem,
            message: "access group \(item.accessGroup) has a \(item.itemClass.title) with the same "
                + "\(unique.map(\.name).joined(separator: ", ")): update it, or delete it first")
    }
}
