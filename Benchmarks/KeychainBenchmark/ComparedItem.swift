internal import Foundation
internal import KeychainModel
internal import KeychainSecurity

/// An item by its number; there are ten services.
struct ComparedItem {
    private let account: String
    private let service: String

    private static let secret = Data("a secret of forty bytes, as in every row".utf8)

    init(_ number: Int) {
        account = String(format: "account-%07d", number)
        service = "service-\(number % 10)"
    }

    var lookUpQuery: [String: Any] { name.merging([kSecReturnData as String: true]) { _, new in new } }

    /// The same look-up, past the dictionaries.
    var findRequest: Request {
        var query = ItemQuery(.genericPassword)
        query.attributes[.account] = .text(account)
        query.attributes[.service] = .text(service)
        return .find(FindRequest(query, wantsSecrets: true))
    }

    private var name: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccount as String: account,
            kSecAttrService as String: service,
        ]
    }

    // Each returns how long it took, in microseconds.

    func add() throws -> Double {
        var attributes = name
        attributes[kSecAttrLabel as String] = "Label of \(account)"
        attributes[kSecValueData as String] = Self.secret
        let timed = Stopwatch.time { SecItemAdd(attributes as CFDictionary, nil) }
        try require(timed.result, "SecItemAdd")
        return timed.microseconds
    }

    func lookUp() throws -> Double {
        let query = lookUpQuery
        var found: AnyObject?
        let timed = Stopwatch.time { SecItemCopyMatching(query as CFDictionary, &found) }
        try require(timed.result, "SecItemCopyMatching")
        guard found as? Data == Self.secret else { throw BenchmarkError("a look-up gave another secret") }
        return timed.microseconds
    }

    /// Every item of this one's service with its attributes and its secret.
    func search(expecting count: Int) throws -> Double {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecMatchLimit as String: kSecMatchLimitAll,
            kSecReturnAttributes as String: true,
            kSecReturnData as String: true,
        ]
        var found: AnyObject?
        let timed = Stopwatch.time { SecItemCopyMatching(query as CFDictionary, &found) }
        try require(timed.result, "SecItemCopyMatching")
        let items = found as? [[String: Any]] ?? []
        guard items.count == count, items.allSatisfy({ $0[kSecValueData as String] as? Data == Self.secret }) else {
            throw BenchmarkError("a search did not give \(count) items with their secrets")
        }
        return timed.microseconds
    }

    func remove() throws { try require(SecItemDelete(name as CFDictionary), "SecItemDelete") }

    private func require(_ status: OSStatus, _ function: String) throws {
        guard status == errSecSuccess else { throw BenchmarkError("\(function) gave \(status) for \(account)") }
    }
}
