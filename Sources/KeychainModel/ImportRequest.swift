/// Items of an export that are to be merged into the store, all of them or none. The request is for the store's owner
/// alone.
package struct ImportRequest: Sendable {
    package var items: [Item]
    /// Whether the reply only names the outcome for each item.
    package var isDryRun: Bool
    /// Whether the items come from another host on this machine: see ``ExportRequest/isMove``.
    package var isMove: Bool

    /// A larger import goes in several requests: all of one are in memory, and in one transaction.
    package static let mostItems = 10_000

    package init(_ items: [Item], isDryRun: Bool = false, isMove: Bool = false) {
        self.items = items
        self.isDryRun = isDryRun
        self.isMove = isMove
    }
}

/// The fate of one item that was to be imported.
package enum ImportOutcome: Sendable, Hashable, CaseIterable {
    case added
    /// The item took the place of another one in its way.
    case replaced
    /// The one that is there is newer, and stays.
    case kept
    /// The keychain has an equal item already.
    case unchanged
    /// It is not one that this keychain could have exported: see ``Item/flaw``.
    case refused
    /// The item has expired since its export.
    case expired
}
