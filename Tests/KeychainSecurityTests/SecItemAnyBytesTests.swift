import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// Whatever is stored by Apple's functions comes back byte for byte, as text or as data, and finds the item again.
///
/// A failure tells the seed; `KEYCHAIN_TEST_SEED` repeats the run.
@Suite struct SecItemAnyBytesTests {
    /// Attributes that keep text and data as they are given.
    private static var passwordAttributes: [CFString] {
        [kSecAttrAccount, kSecAttrService, kSecAttrLabel, kSecAttrComment, kSecAttrDescription, kSecAttrGeneric]
    }

    @Test(
        "Any text and any data of a generic password come back, and each of them finds it",
        arguments: KeychainHost.carriers)
    func values(host: KeychainHost) throws {
        var source = AnyBytes()
        let seed = source.generator.seed
        try withKeychain(host) { _ in
            for number in 0..<60 {
                var item: [CFString: Any] = [kSecClass: kSecClassGenericPassword]
                for attribute in Self.passwordAttributes { item[attribute] = value(&source) }
                // What tells it from all others, so that no two draws are one item.
                item[kSecAttrAccount] = "\(number) \(source.text())"
                let secret = source.data()
                let added = SecItemAdd(item.merging([kSecValueData: secret]) { $1 } as CFDictionary, nil)
                #expect(added == errSecSuccess, "seed \(seed), item \(number)")
                try expect(item, secret, seed, number)
                let changes: [CFString: Any] = [kSecAttrLabel: value(&source), kSecValueData: source.data()]
                let updated = SecItemUpdate(item as CFDictionary, changes as CFDictionary)
                #expect(updated == errSecSuccess, "seed \(seed), item \(number)")
                item[kSecAttrLabel] = changes[kSecAttrLabel]
                try expect(item, try #require(changes[kSecValueData] as? Data), seed, number)
                #expect(SecItemDelete(item as CFDictionary) == errSecSuccess)
            }
        }
    }

    @Test(
        "Every odd text and every odd bytes come back as the type they were given in", arguments: KeychainHost.carriers)
    func everyOddValue(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let values: [Any] = AnyBytes.oddTexts.map { $0 as Any } + AnyBytes.oddBytes.map { $0 as Any }
            for (number, value) in values.enumerated() {
                let item: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: value, kSecAttrService: "\(number)",
                    kSecAttrLabel: value,
                ]
                let secret = Data("\(number)".utf8)
                #expect(SecItemAdd(item.merging([kSecValueData: secret]) { $1 } as CFDictionary, nil) == errSecSuccess)
                try expect(item, secret, 0, number)
            }
        }
    }

    @Test("Texts that look alike are different items", arguments: KeychainHost.carriers)
    func canonicallyEquivalent(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            for spelling in ["\u{e9}", "e\u{301}"] {
                let item: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: spelling,
                    kSecValueData: Data("\(spelling.utf8.count)".utf8),
                ]
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            }
            for spelling in ["\u{e9}", "e\u{301}"] {
                let name: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: spelling]
                try expect(name, Data("\(spelling.utf8.count)".utf8), 0, spelling.utf8.count)
            }
        }
    }

    @Test("A label and a generic attribute of a megabyte come back", arguments: KeychainHost.carriers)
    func large(host: KeychainHost) throws {
        var generator = SeededGenerator()
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a",
            kSecAttrLabel: String(repeating: "e\u{301}\u{0}", count: 1 << 18),
            kSecAttrGeneric: generator.bytes(1 << 20),
        ]
        let secret = generator.bytes(1 << 20)
        try withKeychain(host) { _ in
            #expect(SecItemAdd(item.merging([kSecValueData: secret]) { $1 } as CFDictionary, nil) == errSecSuccess)
            try expect(item, secret, generator.seed, 0)
        }
    }

    private func value(_ source: inout AnyBytes) -> Any {
        source.generator.below(2) == 0 ? source.text() : source.data()
    }

    /// A search for all attributes of the item finds it alone, with its secret and exactly these values.
    private func expect(_ item: [CFString: Any], _ secret: Data, _ seed: UInt64, _ number: Int) throws {
        let comment: Comment = "seed \(seed), item \(number)"
        let query = item.merging([
            kSecReturnAttributes: true, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll,
        ]) { $1 }
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, comment)
        let all = try #require(result as? [[String: Any]], comment)
        #expect(all.count == 1, comment)
        let found = try #require(all.first, comment)
        #expect((found[kSecValueData as String] as? Data) == secret, comment)
        for (key, value) in item where key != kSecClass {
            #expect(isIdentical(found[key as String], value), "\(key), \(comment)")
        }
    }

    private func isIdentical(_ a: Any?, _ b: Any) -> Bool {
        if let a = a as? String, let b = b as? String { return a.utf8.elementsEqual(b.utf8) }
        if let a = a as? Data, let b = b as? Data { return a == b }
        return false
    }
}
