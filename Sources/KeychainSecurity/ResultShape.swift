internal import Foundation
internal import KeychainModel

/// The form in which items are returned: a bare value if one thing was asked for, a dictionary if several were.
struct ResultShape {
    private let returns: SecItemDictionary.Returns

    init(_ returns: SecItemDictionary.Returns) { self.returns = returns }

    /// One item found. nil if nothing was asked for, or the only thing asked for is not there.
    func found(_ item: Item) -> AnyObject? {
        switch returns {
        case []: nil
        case .data: item.secret?.object
        case .persistentReference: item.persistentReference.data as NSData
        // A password has no reference.
        case .reference: nil
        default: dictionary(of: item)
        }
    }

    /// Items found under any other limit than one: an array of those that have what was asked for.
    func found(_ items: [Item]) -> AnyObject { items.compactMap(found) as NSArray }

    /// The item added. Unlike a search, it answers with empty data for an item without a secret.
    func added(_ item: Item) -> AnyObject? {
        returns == .data ? item.secret?.object ?? NSData() : found(item)
    }

    private func dictionary(of item: Item) -> NSDictionary {
        var result = ResultDictionary()
        if !returns.isDisjoint(with: [.attributes, .reference]) { result.add(attributesOf: item) }
        if returns.contains(.reference) { result.add("class", item.itemClass.rawValue as NSString) }
        if returns.contains(.data), let secret = item.secret { result.add("v_Data", secret.object) }
        if returns.contains(.persistentReference) {
            result.add("v_PersistentRef", item.persistentReference.data as NSData)
        }
        return result.finish()
    }
}

/// Collects objects and makes the dictionary in one go: filled entry by entry, Foundation's costs three times as much.
private struct ResultDictionary {
    private var keys: [NSObject] = []
    private var objects: [AnyObject] = []

    init() {
        keys.reserveCapacity(20)
        objects.reserveCapacity(20)
    }

    mutating func add(_ key: NSString, _ object: NSObject) {
        keys.append(key)
        objects.append(object)
    }

    /// Everything Apple's keychain returns, under the same keys, except what this one leaves out
    /// (docs/compatibility.md): tombstone, multi-user and digest.
    mutating func add(attributesOf item: Item) {
        for (attribute, value) in item.attributes.entries { add(ResultKeys.key(of: attribute), value.object) }
        add("agrp", item.accessGroup as NSString)
        add("pdmn", item.accessControl.protection.rawValue as NSString)
        add("accc", SecAccessControl(item.accessControl))
        add("sync", NSNumber(value: item.synchronizable ? 1 : 0))
        add("cdat", NSDate(timeIntervalSinceReferenceDate: item.created))
        add("mdat", NSDate(timeIntervalSinceReferenceDate: item.modified))
        if let certificate = item.certificate { add("certdata", certificate.object) }
    }

    func finish() -> NSDictionary { NSDictionary(objects: objects, forKeys: keys, count: keys.count) }
}

/// The keys under which attributes are returned, made once: making them costs as much as the rest of a result.
private enum ResultKeys {
    // Never changed, and an NSString made from a text is immutable.
    nonisolated(unsafe) private static let known: [Attribute: NSString] = {
        let attributes = ItemClass.allCases.flatMap { AttributeTable.table(for: $0).rules.map(\.attribute) }
        return Dictionary(attributes.map { ($0, $0.code as NSString) }, uniquingKeysWith: { first, _ in first })
    }()

    static func key(of attribute: Attribute) -> NSString { known[attribute] ?? attribute.code as NSString }
}

extension SecretBytes {
    /// A copy for the program that asked. It is the program's own and no longer erased.
    fileprivate var object: NSData { withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) } }
}

extension AttributeValue {
    fileprivate var object: NSObject {
        switch self {
        case .text(let text): text as NSString
        case .data(let data): data as NSData
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        }
    }
}
