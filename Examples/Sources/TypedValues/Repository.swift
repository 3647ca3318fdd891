import SwiftKeychain

/// Values of any type by their identifiers: create, read, update, delete.
struct Repository<Value: Codable & Sendable & Identifiable>: Sendable where Value.ID == String {
    let keychain: Keychain

    func create(_ value: Value) throws { try keychain.add(value, for: value.id) }
    func read(_ id: String) throws -> Value? { try keychain.value(for: id) }
    func readAll() throws -> [Value] { try keychain.items(Value.self).sorted { $0.key < $1.key }.map(\.value) }
    func update(_ value: Value) throws { try keychain.update(value, for: value.id) }
    func delete(_ id: String) throws { try keychain.remove(id) }
}

struct Card: Codable, Equatable, Sendable, Identifiable {
    var id: String
    var number: String
}
