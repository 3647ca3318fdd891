public import Foundation
internal import KeychainModel

/// Which items of a class are meant: those whose attributes are the ones that are set here.
///
/// ```swift
/// var query = KeychainQuery<KeychainItemKinds.InternetPassword>()
/// query.server = "example.com"
/// query.limit = 10
/// ```
///
/// It has every property of the item. ``KeychainItem/secret`` is none that can be searched for.
@dynamicMemberLookup
public struct KeychainQuery<Kind: KeychainItemKind>: Sendable {
    private var template = KeychainItem<Kind>()

    /// nil: those that are marked as synchronizable and those that are not.
    public var isSynchronizable: Bool? = false
    /// nil: any.
    public var accessibility: Keychain.Accessibility?
    /// How many items are found at most; nil: all. Updates and deletions always mean all.
    public var limit: Int?
    /// The item that ``KeychainItem/persistentReference`` names; nil: any.
    public var persistentReference: Data?

    /// Every item of the class in the program's groups that is not marked as synchronizable.
    public init() {}

    public subscript<Value>(dynamicMember member: WritableKeyPath<KeychainItem<Kind>, Value>) -> Value {
        get { template[keyPath: member] }
        set { template[keyPath: member] = newValue }
    }

    /// Whether it means less than every item of the class.
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
            guard template.secretBytes == nil else {
                throw KeychainError(.parameter, message: "items are not searched for by their secrets")
            }
            return query
        }
    }
}
