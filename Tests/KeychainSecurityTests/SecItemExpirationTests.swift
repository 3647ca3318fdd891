import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

@Suite struct SecItemExpirationTests {
    private let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]

    private func attributes() -> [CFString: Any] {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query.merging([kSecReturnAttributes: true]) { $1 } as CFDictionary, &result)
        return status == errSecSuccess ? result as? [CFString: Any] ?? [:] : [:]
    }

    private func add(_ date: Any) -> OSStatus {
        SecItemAdd(query.merging([kSecAttrExpirationDate: date]) { $1 } as CFDictionary, nil)
    }

    @Test("A date is set, returned, taken away, and lets the item go", arguments: KeychainHost.carriers)
    func lifetime(_ host: KeychainHost) throws {
        try withKeychain(host) { (test: TestKeychain) throws in
            let date = Date(timeIntervalSinceReferenceDate: test.clock.now + 60)
            #expect(add(date) == errSecSuccess)
            #expect(attributes()[kSecAttrExpirationDate] as? Date == date)
            let never: [CFString: Any] = [kSecAttrExpirationDate: NSNull()]
            #expect(SecItemUpdate(query as CFDictionary, never as CFDictionary) == errSecSuccess)
            #expect(attributes()[kSecAttrAccount] != nil && attributes()[kSecAttrExpirationDate] == nil)
            let again: [CFString: Any] = [kSecAttrExpirationDate: date]
            #expect(SecItemUpdate(query as CFDictionary, again as CFDictionary) == errSecSuccess)
            test.clock.advance(by: 60)
            #expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound)
        }
    }

    @Test("Attributes that were returned mean the item, its date among them", arguments: KeychainHost.carriers)
    func attributesAsQuery(_ host: KeychainHost) throws {
        try withKeychain(host) { (test: TestKeychain) throws in
            #expect(add(Date(timeIntervalSinceReferenceDate: test.clock.now + 60)) == errSecSuccess)
            var other = attributes().merging([kSecClass: kSecClassGenericPassword]) { $1 }
            other[kSecAttrExpirationDate] = Date(timeIntervalSinceReferenceDate: test.clock.now + 61)
            #expect(SecItemDelete(other as CFDictionary) == errSecItemNotFound)
            let same = attributes().merging([kSecClass: kSecClassGenericPassword]) { $1 }
            #expect(SecItemDelete(same as CFDictionary) == errSecSuccess)
        }
    }

    @Test("What is no date in the future is refused")
    func refused() throws {
        try withKeychain { (test: TestKeychain) throws in
            for value: Any in [
                Date(timeIntervalSinceReferenceDate: test.clock.now), Date.distantPast,
                Date(timeIntervalSinceReferenceDate: .infinity), "tomorrow", 5,
            ] {
                #expect(add(value) == errSecParam, "\(value)")
            }
            let never = query.merging([kSecAttrExpirationDate: NSNull()]) { $1 }
            #expect(SecItemCopyMatching(never as CFDictionary, nil) == errSecParam)
            #expect(add(NSNull()) == errSecSuccess)
        }
    }
}
