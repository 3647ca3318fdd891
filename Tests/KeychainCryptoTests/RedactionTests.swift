import Foundation
import KeychainCrypto
import KeychainModel
import Testing

@Suite struct RedactionTests {
    @Test("No textual form of a secret shows it")
    func secretBytes() {
        let secret = SecretBytes(copying: Data("hunter2".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(describing: secret), String(reflecting: secret), "\([secret])", dumped] {
            #expect(text.contains("<REDACTED>"))
            #expect(!text.contains("hunter2"))
        }
    }

    @Test("No textual form of a key shows it")
    func keyMaterial() throws {
        let key = try KeyMaterial.repeating(0x41)
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\([key])", dumped] {
            #expect(text.contains("<REDACTED>"))
            #expect(!text.contains("65") && !text.contains("AAAA"))
        }
    }

    @Test("No textual form of a set of keys shows them")
    func keySet() throws {
        let set = try KeySet()
        try set.add(.file(.complete), generation: 1) { $0.copyBytes(from: Data(repeating: 0x41, count: 32)) }
        var dumped = ""
        dump(set, to: &dumped)
        for text in ["\(set)", String(reflecting: set), "\([set])", dumped] {
            #expect(text.contains("<REDACTED>"))
            #expect(!text.contains("65") && !text.contains("AAAA"))
        }
    }

    @Test("No textual form of a store's keys shows them")
    func storeKeys() throws {
        let keys = try StoreKeys()
        try keys.add(.file(.complete), generation: 1) { $0.copyBytes(from: Data(repeating: 0x41, count: 32)) }
        var dumped = ""
        dump(keys, to: &dumped)
        for text in ["\(keys)", String(reflecting: keys), dumped] {
            #expect(text.contains("<REDACTED>"))
            #expect(!text.contains("65, 65") && !text.contains("AAAA"))
        }
    }

    @Test("A request that is printed does not show its secret")
    func request() {
        var request = AddRequest(.genericPassword)
        request.secret = SecretBytes(copying: Data("hunter2".utf8))
        #expect(!"\(Request.add(request))".contains("hunter2"))
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }
}
