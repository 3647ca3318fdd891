import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T1: a store that holds nothing.
struct T01FindNothingTests {
    @Test("T1.1 A search of an empty store finds nothing and leaves the result alone", arguments: KeychainHost.everyHost)
    func searchFindsNothing(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let untouched = NSObject()
            var result: CFTypeRef? = untouched
            let query: Item = [kSecClass: kSecClassInternetPassword, kSecReturnAttributes: true]
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecItemNotFound)
            #expect(result === untouched)
        }
    }

    @Test("T1.2 No class of an empty store can be searched, updated or deleted", arguments: KeychainHost.everyHost)
    func everyClassIsEmpty(host: KeychainHost) throws {
        let rows = Fixtures.everyClass.flatMap { name -> [Row] in
            let all: Item = [kSecClass: name]
            return [
                .find(all.with([kSecReturnAttributes: true]), .notFound),
                .find(all.with([kSecReturnPersistentRef: true, kSecMatchLimit: kSecMatchLimitAll]), .notFound),
                .update(all, [kSecAttrLabel: "new"], .notFound),
                .delete(all, .notFound),
            ]
        }
        try table(host, rows)
    }
}
