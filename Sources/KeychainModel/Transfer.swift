/// A part of everything a store holds, in the order of its rows. For the store's owner alone.
package struct ExportRequest: Sendable, Hashable {
    /// nil: every group.
    package var accessGroup: String?
    /// Where the part begins: 1, and then ``ExportedPart/next`` of the part before.
    package var start: Int64

    package init(accessGroup: String? = nil, start: Int64 = 1) {
        self.accessGroup = accessGroup
        self.start = start
    }
}

/// What came of an ``ExportRequest``: one snapshot of some rows.
package struct ExportedPart: Sendable {
    /// Whole, with their secrets.
    package var items: [FoundItem] = []
    package var leftOut = LeftOut()
    /// nil: this was the last part.
    package var next: Int64?

    package init() {}

    /// Rows that were dealt with.
    package var count: Int { items.count + leftOut.total }
}

/// How many items an export leaves out, and why.
package struct LeftOut: Sendable, Hashable {
    /// Their protection says that they never leave this device.
    package var thisDeviceOnly = 0
    /// Their access control asks for authentication, and an export asks nobody.
    package var constrained = 0
    /// They stand for what a token holds.
    package var ofTokens = 0
    /// They do not open, damaged or tampered with, or have something that no export can hold: ``FoundItem/flaw``.
    package var unreadable = 0

    package init() {}

    package var total: Int { thisDeviceOnly + constrained + ofTokens + unreadable }

    package static func += (sum: inout LeftOut, more: LeftOut) {
        sum.thisDeviceOnly += more.thisDeviceOnly
        sum.constrained += more.constrained
        sum.ofTokens += more.ofTokens
        sum.unreadable += more.unreadable
    }
}

/// Items of an export that are to be merged into the store, all of them or none. For the store's owner alone.
package struct ImportRequest: Sendable {
    package var items: [FoundItem]
    /// Whether only to say what would become of each.
    package var isDryRun: Bool

    /// A larger import goes in several requests: all of one are in memory, and in one transaction.
    package static let mostItems = 10_000

    package init(_ items: [FoundItem], isDryRun: Bool = false) {
        self.items = items
        self.isDryRun = isDryRun
    }
}

/// What became of one item that was to be imported.
package enum ImportOutcome: Sendable, Hashable, CaseIterable {
    case added
    /// It took the place of what was in its way.
    case replaced
    /// The one that is there is newer, and stays.
    case kept
    /// The same item is there.
    case unchanged
    /// It is not one that this keychain could have exported: see ``FoundItem/flaw``.
    case refused
}

extension FoundItem {
    /// Secret and attributes of an item together have at most this many bytes: it is read into memory whole, several
    /// times over.
    package static let mostBytes = 64 << 20

    /// Seconds since 2001: about 139,000 years before and after, beyond what calendars show.
    private static let dates = -0x1p42...0x1p42

    /// Why no keychain can have exported this item; nil: it can be imported.
    package var flaw: String? {
        let table = AttributeTable.table(for: itemClass)
        if !ItemClass.stored.contains(itemClass) { return "\(itemClass.title) has no row of its own" }
        if accessGroup.isEmpty || accessGroup == Caller.tokenGroup { return "nothing can be in its access group" }
        // A date of modification far ahead would win over every later change.
        if ![created, modified].allSatisfy(Self.dates.contains) { return "one of its dates is none" }
        if accessControl.protection.isThisDeviceOnly { return "it never leaves its device" }
        if accessControl.isConstrained { return "it asks for authentication" }
        if isOfToken { return "it belongs to a token" }
        if Set(attributes.entries.map(\.attribute)).count < attributes.count { return "an attribute is there twice" }
        for (attribute, value) in attributes.entries where table[attribute]?.kind.coerce(value) != value {
            return "\(itemClass.title) cannot have this \(attribute.name)"
        }
        if attributes.byteCount + (secret?.count ?? 0) > Self.mostBytes { return "it is too large" }
        return nil
    }

    /// Whether it stands for what a token holds.
    package var isOfToken: Bool {
        attributes[.tokenID].map { $0.withIndexedBytes { $1.count > 0 } } ?? false
    }
}

extension AttributeSet {
    /// Of all values together.
    package var byteCount: Int { entries.reduce(0) { $0 + $1.value.withIndexedBytes { $1.count } } }
}
