extension Item {
    /// Secret and attributes of an item together have at most this many bytes: it is read into memory whole, several
    /// times over.
    package static let mostBytes = 64 << 20

    /// Seconds since 2001: about 139,000 years before and after, beyond what calendars show.
    private static let dates = -0x1p42...0x1p42

    /// Why no keychain can have exported this item; nil: it can be imported.
    package var flaw: String? {
        if accessControl.protection.isThisDeviceOnly { return "it never leaves its device" }
        if accessControl.isConstrained { return "it asks for authentication" }
        return flawInMove
    }

    /// Why no other host on this machine can have given this item away; nil: it can be taken.
    package var flawInMove: String? {
        let table = AttributeTable.table(for: itemClass)
        if !ItemClass.stored.contains(itemClass) { return "\(itemClass.title) has no row of its own" }
        if accessGroup.isEmpty || accessGroup == Caller.tokenGroup { return "nothing can be in its access group" }
        // A date of modification far ahead would win over every later change.
        if ![created, modified].allSatisfy(Self.dates.contains) { return "one of its dates is none" }
        if isOfToken { return "it belongs to a token" }
        if Set(attributes.entries.map(\.attribute)).count < attributes.count { return "an attribute is there twice" }
        for (attribute, value) in attributes.entries where table[attribute]?.kind.coerce(value) != value {
            return "\(itemClass.title) cannot have this \(attribute.name)"
        }
        if attributes.byteCount + (secret?.count ?? 0) > Self.mostBytes { return "it is too large" }
        return nil
    }

    /// Whether the item stands for a key of a token.
    package var isOfToken: Bool {
        attributes[.tokenID].map { $0.withIndexedBytes { $1.count > 0 } } ?? false
    }
}

extension Item {
    /// A rough figure for the memory of an item besides its values.
    package static let overhead = 512

    /// A rough figure for its memory.
    package var byteCount: Int {
        Self.overhead + attributes.byteCount + accessGroup.utf8.count
            + (secret?.count ?? 0) + (certificate?.count ?? 0)
    }
}

extension Reply {
    /// A rough figure for the memory of the reply's items, or of its other content; 0 for small replies.
    package var byteCount: Int {
        switch self {
        case .added(let item): item.byteCount
        case .found(let items): items.reduce(0) { $0 + $1.byteCount }
        case .resolved(let resolution): resolution.matches.reduce(0) { $0 + $1.item.byteCount }
        case .exported(let part): part.items.reduce(0) { $0 + $1.byteCount }
        case .fileKeyBackup(let bytes): bytes.count
        case .keyResult, .deleted, .committed, .expired, .done, .status, .checked, .lockStatus, .rekeyed, .imported,
            .fileKey,
            .authenticationStatus,
            .authenticationNeeded:
            0
        }
    }
}

extension AttributeSet {
    /// The size of all values together.
    package var byteCount: Int { entries.reduce(0) { $0 + $1.value.withIndexedBytes { $1.count } } }
}
