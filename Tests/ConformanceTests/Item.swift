import Foundation
import KeychainSecurity
import Testing

/// A dictionary as a caller writes it.
typealias Item = [CFString: Any]

/// A dictionary as a search returns it.
typealias Attributes = [String: Any]

extension Item {
    /// The dictionary with further keys, which win over the ones it has.
    func with(_ others: Item) -> Item { merging(others) { $1 } }

    func without(_ keys: CFString...) -> Item { filter { !keys.contains($0.key) } }

    /// The keys alone, so that a report never shows a value that might be a secret.
    var summary: String { "[" + keys.map { $0 as String }.sorted().joined(separator: " ") + "]" }
}

/// The bytes of a text, for secrets.
func bytes(_ text: String) -> Data { Data(text.utf8) }

/// Whether two values of a result are the same, however each is bridged.
func areEqual(_ a: Any, _ b: Any) -> Bool {
    if let a = a as? SecAccessControl, let b = b as? SecAccessControl { return a == b }
    guard let a = (a as AnyObject) as? NSObject else { return false }
    return a.isEqual(b as AnyObject)
}

func areEqual(_ a: Attributes, _ b: Attributes) -> Bool {
    Set(a.keys) == Set(b.keys) && a.allSatisfy { key, value in b[key].map { areEqual(value, $0) } ?? false }
}

/// What a search that must succeed returns.
func found<Value>(
    _ query: Item, as type: Value.Type = Value.self, at location: SourceLocation = #_sourceLocation
) throws -> Value {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    try #require(status == errSecSuccess, "find \(query.summary)", sourceLocation: location)
    return try #require(result as? Value, "the result is no \(Value.self)", sourceLocation: location)
}

/// What an add that must succeed returns.
func added<Value>(
    _ item: Item, as type: Value.Type = Value.self, at location: SourceLocation = #_sourceLocation
) throws -> Value {
    var result: CFTypeRef?
    let status = SecItemAdd(item as CFDictionary, &result)
    try #require(status == errSecSuccess, "add \(item.summary)", sourceLocation: location)
    return try #require(result as? Value, "the result is no \(Value.self)", sourceLocation: location)
}

/// The persistent reference of an item that is added here.
func reference(adding item: Item, at location: SourceLocation = #_sourceLocation) throws -> Data {
    try added(item.with([kSecReturnPersistentRef: true]), at: location)
}

/// The attributes of the item that a query names.
func attributes(of query: Item, at location: SourceLocation = #_sourceLocation) throws -> Attributes {
    try found(query.with([kSecReturnAttributes: true]), at: location)
}
