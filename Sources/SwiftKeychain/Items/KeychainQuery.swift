public import FoundationEssentials
internal import KeychainModel

/// The conditions of a search: it finds the items whose attributes are those that are set here.
///
/// ```swift
/// var query = KeychainQuery<KeychainItemKinds.InternetPassword>()
/// query.server = "example.com"
/// query.limit = 10
/// let found = try KeychainItems().find(query)
/// ```
///
/// It has every attribute of the item as a property. Texts are compared byte by byte. Attributes in the index find
/// their items quickly, even among many. Items cannot be searched by ``KeychainItem/secret`` or
/// ``KeychainItem/accessControl``: the call throws `.parameter`. ``accessibility`` is there for the latter.
@dynamicMemberLookup
public struct KeychainQuery<Kind: KeychainItemKind>: Sendable {
    private var template = KeychainItem<Kind>()

    /// Whether items are marked as synchronizable. `nil` finds both kinds. The default finds those without the mark.
    public var isSynchronizable: Bool? = false
    /// The accessibility of the items. `nil` finds any.
    public var accessibility: Keychain.Accessibility?
    /// The largest number of items that a search finds. `nil` finds all. Updates and removals mean all items in any
    /// case.
    public var limit: Int?
    /// The ``KeychainItem/persistentReference`` of the item. `nil` finds any.
    ///
    /// With it, ``isSynchronizable`` has no effect. Bytes that are no such reference make the call throw `.parameter`.
    public var persistentReference: Data?

    /// Makes a query for every item of the class in the program's groups that is not marked as synchronizable.
    public init() {}

    /// The value that an attribute of the items must have. `nil` finds any.
    ///
    /// - Parameter member: An attribute of ``KeychainItem``. Programs write `query.server` and not the subscript.
    public subscript<Value>(dynamicMember member: WritableKeyPath<KeychainItem<Kind>, Value>) -> Value {
        get { template[keyPath: member] }
        set { template[keyPath: member] = newValue }
    }

    /// Whether the query means less than every item of the class.
    var namesSomething: Bool {
        !template.attributes.isEmpty || template.accessGroup != nil || accessibility != nil || template.created != nil
            || template.modified != nil || persistentReference != nil
    }

    var model: ItemQuery {
        get throws(KeychainError) {
            var query = ItemQuery(Kind.itemClass.model)
            query.attributes = template.attributes
            query.accessGroup = template.accessGroup
            query.protection = accessibility?.protection
            query.created = template.created?.timeIntervalSinceReferenceDate
            query.modified = template.modified?.timeIntervalSinceReferenceDate
            query.synchronizable = isSynchronizable.map { $0 ? .yes : .no } ?? .any
            query.limit = limit.map { .atMost(max($0, 0)) } ?? .all
            if let persistentReference {
                query.persistentReference = try PersistentReference(data: persistentReference)
                query.synchronizable = .any
            }
            guard template.secretBytes == nil, template.accessControl == nil else {
                throw KeychainError(
                    .parameter, message: "items are not searched for by their secrets or their access control")
            }
            return query
        }
    }
}
