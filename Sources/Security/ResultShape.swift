internal import Foundation
internal import KeychainModel

/// The form in which items are returned: a bare value if one thing was asked for, a dictionary if several were.
struct ResultShape {
    private let returns: SecItemDictionary.Returns

    init(_ returns: SecItemDictionary.Returns) { self.returns = returns }

    /// One item found. nil if nothing was asked for, or the only thing asked for is not there.
    func found(_ item: FoundItem) -> AnyObject? {
        switch returns {
        case []: nil
        case .data: item.secret.map { $0.copyData() as NSData }
        case .persistentReference: item.persistentReference.data as NSData
        // A password has no reference.
        case .reference: nil
        default: dictionary(of: item)
        }
    }

    /// Items found under any other limit than one: an array of those that have what was asked for.
    func found(_ items: [FoundItem]) -> AnyObject { items.compactMap(found) as NSArray }

    /// The item added. Unlike a search, it answers with empty data for an item without a secret.
    func added(_ item: FoundItem) -> AnyObject? {
        returns == .data ? (item.secret?.copyData() ?? Data()) as NSData : found(item)
    }

    private func dictionary(of item: FoundItem) -> NSDictionary {
        let result = NSMutableDictionary()
        if !returns.isDisjoint(with: [.attributes, .reference]) { item.copyAttributes(to: result) }
        if returns.contains(.reference) { result["class"] = item.itemClass.rawValue }
        if returns.contains(.data), let secret = item.secret { result["v_Data"] = secret.copyData() }
        if returns.contains(.persistentReference) { result["v_PersistentRef"] = item.persistentReference.data }
        return result
    }
}

extension FoundItem {
    /// Everything Apple's keychain returns, under the same keys, except what this one leaves out
    /// (docs/compatibility.md): tombstone, multi-user and digest.
    fileprivate func copyAttributes(to result: NSMutableDictionary) {
        for (attribute, value) in attributes.entries { result[attribute.code] = value.object }
        result["agrp"] = accessGroup
        result["pdmn"] = accessControl.protection.rawValue
        result["accc"] = SecAccessControl(accessControl)
        result["sync"] = NSNumber(value: synchronizable ? 1 : 0)
        result["cdat"] = Date(timeIntervalSinceReferenceDate: created)
        result["mdat"] = Date(timeIntervalSinceReferenceDate: modified)
        if let certificate { result["certdata"] = certificate.copyData() }
    }
}

extension AttributeValue {
    fileprivate var object: Any {
        switch self {
        case .text(let text): text
        case .data(let data): data
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        }
    }
}
