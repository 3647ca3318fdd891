import Foundation

/// Notes that the programs of a family share.
///
/// The library's entitlements name their group, so a program that contains it need not.
public struct FamilyNotes: Sendable {
    /// A status of the keychain that is no success.
    public struct Failure: LocalizedError, Equatable {
        /// As Apple's keychain gives it.
        public let status: Int32

        /// The meaning of the status, in English.
        public var errorDescription: String? {
            SecCopyErrorMessageString(status, nil) as String?
        }
    }

    /// The notes of the program's first access group.
    public init() {}

    /// The text of a note. Nil: there is none of this name.
    public func text(named name: String) throws -> String? {
        let search = query(name).merging([kSecReturnData: true]) { $1 }
        var result: CFTypeRef?
        let status = SecItemCopyMatching(search as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        try check(status)
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Stores a note, in the place of one of the same name.
    public func write(_ text: String, named name: String) throws {
        let item = query(name).merging([kSecValueData: Data(text.utf8)]) { $1 }
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecDuplicateItem else { return try check(status) }
        let changes: [CFString: Any] = [kSecValueData: Data(text.utf8)]
        try check(SecItemUpdate(query(name) as CFDictionary, changes as CFDictionary))
    }

    /// Removes a note. One that is not there is a failure.
    public func remove(_ name: String) throws {
        try check(SecItemDelete(query(name) as CFDictionary))
    }

    private func query(_ name: String) -> [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: "com.example.notes",
            kSecAttrAccount: name,
        ]
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Failure(status: status) }
    }
}
