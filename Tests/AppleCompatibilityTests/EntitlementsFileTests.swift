import Foundation
import Testing

@testable import AppleCompatibilityGenerator

@Suite("Entitlements files in a build") struct EntitlementsFileTests {
    private func reading(_ entries: [String: Any]) throws -> Entitlements {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).entitlements")
        defer { try? FileManager.default.removeItem(at: file) }
        try PropertyListSerialization.data(fromPropertyList: entries, format: .xml, options: 0).write(to: file)
        return try Entitlements(contentsOf: file)
    }

    @Test("The keys that name groups are kept, and no others")
    func kept() throws {
        let entitlements = try reading(["keychain-access-groups": ["a"], "application-identifier": "b", "other": true])
        let kept = try PropertyListSerialization.propertyList(from: entitlements.propertyList, format: nil)
        let entries = try #require(kept as? [String: Any])
        #expect(Set(entries.keys) == ["keychain-access-groups", "application-identifier"])
        #expect(entries["keychain-access-groups"] as? [String] == ["a"])
    }

    @Test("A value that names no group is refused, in the words of a program that finds the file beside it")
    func flaws() {
        let entries: [(String, any Sendable, String)] = [
            ("keychain-access-groups", "group", "keychain-access-groups is not an array of strings"),
            ("application-identifier", ["app"], "application-identifier is not a string"),
            ("keychain-access-groups", ["$(AppIdentifierPrefix)a"], "has $(AppIdentifierPrefix)a: only Xcode replaces"),
            ("com.apple.application-identifier", "${CFBundleIdentifier}", "has ${CFBundleIdentifier}: only Xcode"),
        ]
        for (key, value, text) in entries {
            let error = #expect(throws: GeneratorError.self) { try reading([key: value]) }
            #expect(error.map { "\($0)".contains(text) } == true)
        }
    }
}
