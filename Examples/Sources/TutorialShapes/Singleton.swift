import Foundation

enum ShapeError: Error, LocalizedError, Equatable {
    case couldNotStore(OSStatus)
    case couldNotFetch(OSStatus)
    case notText
    case noSensor

    var errorDescription: String? {
        switch self {
        case .couldNotStore(let status): return "Storing failed: \(status)"
        case .couldNotFetch(let status): return "Fetching failed: \(status)"
        case .notText: return "Not a text"
        case .noSensor: return "There is nothing to identify the person by"
        }
    }
}

/// A singleton that is not `Sendable`: in Swift 6 the shared instance would be an error.
class Box {
    static let shared = Box()

    private init() {}

    func store(_ data: Data, service: String, account: String, accessibility: CFString = kSecAttrAccessibleWhenUnlocked)
        throws
    {
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecAttrAccessible as String: accessibility,
            kSecValueData as String: data,
        ]
        // The query for the deletion holds the new secret and accessibility too.
        SecItemDelete(item as CFDictionary)
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else {
            throw ShapeError.couldNotStore(status)
        }
    }

    func fetch(service: String, account: String) throws -> Data {
        let search: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecReturnData as String: true,
            kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        var result: AnyObject?
        let status = SecItemCopyMatching(search as CFDictionary, &result)
        guard status == errSecSuccess else {
            throw ShapeError.couldNotFetch(status)
        }
        guard let data = result as? Data else {
            throw ShapeError.notText
        }
        return data
    }

    func forget(service: String, account: String) throws {
        let search: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
        let status = SecItemDelete(search as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw ShapeError.couldNotStore(status)
        }
    }
}

extension Box {
    func storeCodable<T: Codable>(_ value: T, account: String) throws {
        try store(JSONEncoder().encode(value), service: "shapes", account: account)
    }

    func fetchCodable<T: Codable>(account: String) throws -> T {
        try JSONDecoder().decode(T.self, from: fetch(service: "shapes", account: account))
    }
}

@propertyWrapper
struct Boxed {
    let name: String

    var wrappedValue: String? {
        get { try? String(data: Box.shared.fetch(service: "shapes", account: name), encoding: .utf8) }
        set {
            if let text = newValue {
                try? Box.shared.store(Data(text.utf8), service: "shapes", account: name)
            } else {
                try? Box.shared.forget(service: "shapes", account: name)
            }
        }
    }
}

class Preferences {
    @Boxed(name: "colour") var colour: String?
}

/// A deletion that is to happen later, in a closure that holds its object weakly.
class Expiry {
    private let box = Box.shared

    func keep(_ text: String, for seconds: Double) throws {
        try box.store(Data(text.utf8), service: "shapes", account: "expiring")
        DispatchQueue.main.asyncAfter(deadline: .now() + seconds) { [weak self] in
            try? self?.box.forget(service: "shapes", account: "expiring")
        }
    }
}
