internal import Foundation
internal import KeychainModel

/// The form in which items are returned is a bare value for one `kSecReturn…` flag, and a dictionary for several.
struct ResultShape {
    private let dictionary: SecItemDictionary
    private var returns: SecItemDictionary.Returns { dictionary.returns }

    init(_ dictionary: SecItemDictionary) { self.dictionary = dictionary }

    /// Returns one item that was found, or nil without a `kSecReturn…` flag or without the only thing that it asks for.
    ///
    /// - Throws: `.decode` if a key is asked for, and the item's bytes are no key.
    func found(_ item: Item) throws(KeychainError) -> AnyObject? {
        switch returns {
        case []: nil
        case .data: item.secret?.object
        case .persistentReference: item.persistentReference.data as NSData
        case .reference: try dictionary.reference(to: item)
        default: try dictionary(of: item)
        }
    }

    /// Returns an array for any limit but one, of those items that have something to return.
    func found(_ items: [Item]) throws(KeychainError) -> AnyObject {
        var found: [AnyObject] = []
        var failure: KeychainError?
        for item in items {
            do throws(KeychainError) {
                if let value = try self.found(item) { found.append(value) }
            } catch {
                // One that holds something else must not hide all others.
                failure = error
            }
        }
        if let failure, found.isEmpty { throw failure }
        return found as NSArray
    }

    /// Returns the item that was added, with empty data if it has no secret, where a search would give nothing.
    func added(_ item: Item) throws(KeychainError) -> AnyObject? {
        returns == .data ? item.secret?.object ?? NSData() : try found(item)
    }

    private func dictionary(of item: Item) throws(KeychainError) -> NSDictionary {
        var result = ResultDictionary()
        let reference = returns.contains(.reference) ? try dictionary.reference(to: item) : nil
        // A reference to an item without an object gives its attributes.
        if returns.contains(.attributes) || returns.contains(.reference) && reference == nil {
            result.add(attributesOf: item)
        }
        if returns.contains(.reference) { result.add("class", item.itemClass.rawValue as NSString) }
        if let reference { result.add("v_Ref", reference) }
        if returns.contains(.data), let secret = item.secret { result.add("v_Data", secret.object) }
        if returns.contains(.persistentReference) {
            result.add("v_PersistentRef", item.persistentReference.data as NSData)
        }
        return result.finish()
    }
}

/// Collects objects and makes the dictionary in one go, since filling Foundation's entry by entry costs three times as
/// much.
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

    /// Adds all that Apple's keychain returns, under its keys, but for tombstone, multi-user and digest
    /// (docs/compatibility.md).
    mutating func add(attributesOf item: Item) {
        for (attribute, value) in item.attributes.entries { add(ResultKeys.key(of: attribute), value.object) }
        add("agrp", item.accessGroup as NSString)
        add("pdmn", item.accessControl.protection.rawValue as NSString)
        add("accc", SecAccessControl(item.accessControl))
        add("sync", NSNumber(value: item.synchronizable ? 1 : 0))
        add("cdat", NSDate(timeIntervalSinceReferenceDate: item.created))
        add("mdat", NSDate(timeIntervalSinceReferenceDate: item.modified))
        if let expires = item.expires { add("xdat", NSDate(timeIntervalSinceReferenceDate: expires.seconds)) }
        if let certificate = item.certificate { add("certdata", certificate.object) }
    }

    func finish() -> NSDictionary { NSDictionary(objects: objects, forKeys: keys, count: keys.count) }
}

/// The keys of attributes in results are made once, since making them costs as much as the rest of a result.
private enum ResultKeys {
    // Never changed, and an NSString made from a text is immutable.
    nonisolated(unsafe) private static let known: [Attribute: NSString] = {
        let attributes = ItemClass.allCases.flatMap { AttributeTable.table(for: $0).rules.map(\.attribute) }
        return Dictionary(attributes.map { ($0, $0.code as NSString) }, uniquingKeysWith: { first, _ in first })
    }()

    static func key(of attribute: Attribute) -> NSString { known[attribute] ?? attribute.code as NSString }
}

extension SecretBytes {
    /// The bytes are copied for the program that asked, which owns the copy: it is not erased.
    fileprivate var object: NSData { withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) } }
}

extension AttributeValue {
    var object: NSObject {
        switch self {
        case .text(let text): text as NSString
        case .data(let data): data as NSData
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        }
    }
}
