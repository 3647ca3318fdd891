import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// The way of a value through Apple's functions leaves no trace either: in the store's files, in the texts of errors,
/// or in what the results of a search say of themselves.
@Suite struct SecItemTraceTests {
    private let work = NeedleWork()

    private var name: [CFString: Any] {
        [
            kSecClass: kSecClassInternetPassword, kSecAttrAccount: work.text("account"),
            kSecAttrServer: work.text("server"), kSecAttrPath: work.text("path"),
        ]
    }

    private var item: [CFString: Any] {
        name.merging([
            kSecAttrLabel: work.text("label"), kSecAttrComment: Data(work.text("comment").utf8),
            kSecAttrAccessGroup: work.text("group"), kSecValueData: Data(work.text("secret").utf8),
        ]) { $1 }
    }

    @Test(
        "No value of SecItem calls, done and refused, is in a file or in the text of an error",
        arguments: KeychainHost.carriers)
    func calls(host: KeychainHost) throws {
        let scanner = TraceScanner(texts: work.needles)
        let errorScanner = TraceScanner(texts: work.secretNeedles)
        try withKeychain(host, groups: [work.text("group")]) { keychain in
            var texts: [String] = []
            func step(_ expected: OSStatus, _ status: OSStatus, _ title: String) throws {
                #expect(status == expected, "\(title)")
                texts.append(SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "")
                #expect(try scanner.traces(below: keychain.directory) == [:], "\(title)")
            }
            func with(_ others: [CFString: Any]) -> CFDictionary { item.merging(others) { $1 } as CFDictionary }
            let query = name as CFDictionary
            try step(errSecSuccess, SecItemAdd(item as CFDictionary, nil), "add")
            try step(errSecDuplicateItem, SecItemAdd(item as CFDictionary, nil), "add again")
            let foreign = with([kSecAttrAccessGroup: work.text("foreign group")])
            try step(errSecMissingEntitlement, SecItemAdd(foreign, nil), "a foreign group")
            try step(errSecParam, SecItemAdd(with([kSecValueData: work.text("refused secret")]), nil), "text as data")
            try step(
                errSecParam, SecItemAdd(with([kSecAttrAccessible: work.text("refused secret")]), nil), "accessible")
            let changes = [kSecValueData: Data(work.text("second secret").utf8)] as CFDictionary
            try step(errSecSuccess, SecItemUpdate(query, changes), "update")
            try step(errSecSuccess, SecItemCopyMatching(query, nil), "find")
            let absent = name.merging([kSecAttrAccount: work.text("absent account")]) { $1 } as CFDictionary
            try step(errSecItemNotFound, SecItemCopyMatching(absent, nil), "find nothing")
            try step(errSecItemNotFound, SecItemUpdate(absent, changes), "update nothing")
            try keychain.setPasscode(work.text("passcode"))
            try keychain.lock()
            let reading = name.merging([kSecReturnData: true]) { $1 } as CFDictionary
            try step(errSecInteractionNotAllowed, SecItemCopyMatching(reading, nil), "find while locked")
            try step(errSecInteractionNotAllowed, SecItemAdd(with([kSecAttrPath: "/"]), nil), "add while locked")
            try step(errSecSuccess, SecItemDelete(query), "delete")
            // The group that was asked for is named: so the texts are really searched.
            #expect(scanner.traces(in: texts.joined()).map(\.needle).contains("foreign group"))
            let values = errorScanner.traces(in: texts.joined())
            // An accessibility that does not exist is named, as SecCopyErrorMessageString documents.
            #expect(values.allSatisfy { $0.needle == "refused secret" }, "\(values)")
        }
    }
}
