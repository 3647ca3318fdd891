/// The conditions for the items of a request.
package struct ItemQuery: Sendable {
    package enum Synchronizable: String, Sendable, CaseIterable {
        case any, yes, no

        package func matches(_ isSynchronizable: Bool) -> Bool { self == .any || isSynchronizable == (self == .yes) }
    }

    package enum Limit: Sendable, Hashable {
        case one
        case atMost(Int)
        case all
    }

    /// The treatment of an item that wants a person's consent.
    package enum AuthenticationUI: Sendable, Hashable { case allow, fail, skip }

    package var itemClass: ItemClass
    /// Values that must be equal, already coerced to their kinds.
    package var attributes = AttributeSet()
    package var accessGroup: String?
    package var protection: Protection?
    package var created: Double?
    package var modified: Double?
    package var expires: ExpiryDate?
    package var synchronizable = Synchronizable.no
    package var persistentReference: PersistentReference?
    /// Internet passwords whose server is this host or a parent domain's host below it.
    package var hostOrSubdomainOf: String?
    package var limit = Limit.one
    package var authenticationUI = AuthenticationUI.allow

    package init(_ itemClass: ItemClass) { self.itemClass = itemClass }

    /// Finds this item alone, even if others are added or changed meanwhile.
    package init(exactly reference: PersistentReference) {
        self.init(reference.itemClass)
        persistentReference = reference
        synchronizable = .any
    }
}
