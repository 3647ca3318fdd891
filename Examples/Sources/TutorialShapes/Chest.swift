import Foundation

/// Nested types, keys of type `CFString`, values of type `AnyObject`.
class Chest {
    typealias Attributes = [CFString: Any]
    typealias Query = [String: Any]

    static let shared = Chest()

    private init() {}
}

extension Chest {
    enum Kind: RawRepresentable {
        typealias RawValue = CFString

        case password
        case website

        init?(rawValue: CFString) {
            switch rawValue {
            case kSecClassGenericPassword:
                self = .password
            case kSecClassInternetPassword:
                self = .website
            default:
                return nil
            }
        }

        var rawValue: CFString {
            switch self {
            case .password:
                return kSecClassGenericPassword
            case .website:
                return kSecClassInternetPassword
            }
        }
    }

    enum Problem: Error, Equatable {
        case missing
        case present
        case badValue
        case status(OSStatus)

        var localizedDescription: String {
            switch self {
            case .missing: return "missing"
            case .present: return "present already"
            case .badValue: return "bad value"
            case .status(let status): return "status \(status)"
            }
        }
    }

    private func problem(_ status: OSStatus) -> Problem {
        switch status {
        case errSecItemNotFound: return .missing
        case errSecDuplicateItem: return .present
        case errSecDataTooLarge: return .badValue
        default: return .status(status)
        }
    }
}

extension Chest {
    func add<T: Encodable>(_ value: T, kind: Kind, name: String, attributes: Attributes? = nil) throws {
        let encoded = try JSONEncoder().encode(value)
        var item: [String: AnyObject] = [
            kSecClass as String: kind.rawValue,
            kSecAttrAccount as String: name as AnyObject,
            kSecValueData as String: encoded as AnyObject,
        ]
        if let attributes = attributes {
            for (key, value) in attributes {
                item[key as String] = value as AnyObject
            }
        }
        let result = SecItemAdd(item as CFDictionary, nil)
        if result != errSecSuccess {
            throw problem(result)
        }
    }

    func get<T: Decodable>(kind: Kind, name: String, attributes: Attributes? = nil) throws -> T {
        var search: Query = [
            kSecClass as String: kind.rawValue,
            kSecAttrAccount as String: name as AnyObject,
            kSecReturnAttributes as String: true,
            kSecReturnData as String: true,
        ]
        if let attributes = attributes {
            for (key, value) in attributes {
                search[key as String] = value as AnyObject
            }
        }
        var item: CFTypeRef?
        let result = SecItemCopyMatching(search as CFDictionary, &item)
        if result != errSecSuccess {
            throw problem(result)
        }
        guard
            let found = item as? [String: Any],
            let data = found[kSecValueData as String] as? Data
        else {
            throw Problem.badValue
        }
        return try JSONDecoder().decode(T.self, from: data)
    }

    func change<T: Encodable>(to value: T, kind: Kind, name: String, attributes: Attributes? = nil) throws {
        let encoded = try JSONEncoder().encode(value)
        var search: Query = [
            kSecClass as String: kind.rawValue,
            kSecAttrAccount as String: name as AnyObject,
        ]
        if let attributes = attributes {
            for (key, value) in attributes {
                search[key as String] = value as AnyObject
            }
        }
        let changes: Query = [
            kSecValueData as String: encoded as AnyObject
        ]
        let result = SecItemUpdate(
            search as CFDictionary,
            changes as CFDictionary
        )
        if result != errSecSuccess {
            throw problem(result)
        }
    }

    func remove(kind: Kind, name: String, attributes: Attributes? = nil) throws {
        var search: Query = [
            kSecClass as String: kind.rawValue,
            kSecAttrAccount as String: name as AnyObject,
        ]
        if let attributes = attributes {
            for (key, value) in attributes {
                search[key as String] = value as AnyObject
            }
        }
        let result = SecItemDelete(search as CFDictionary)
        if result != errSecSuccess {
            throw problem(result)
        }
    }
}
