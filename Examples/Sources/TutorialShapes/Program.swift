import Foundation
import Story

struct Person: Codable, Equatable {
    var name: String
    var year: Int
}

@main
struct Program {
    static func main() async {
        await story {
            try boxes()
            try await biometry()
            try statements()
            try chest()
        }
    }

    private static func boxes() throws {
        let box = Box.shared
        let every = [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            kSecAttrAccessibleAlways, kSecAttrAccessibleAlwaysThisDeviceOnly,
        ]
        for (number, accessibility) in every.enumerated() {
            let account = "accessible \(number)"
            try box.store(Data([0, 255]), service: "shapes", account: account, accessibility: accessibility)
            tell("Stored as \(accessibility).", try box.fetch(service: "shapes", account: account) == Data([0, 255]))
            try box.forget(service: "shapes", account: account)
        }
        try box.store(Data("one".utf8), service: "shapes", account: "text")
        // The deletion in front looks for the new accessibility, as on Apple's systems, so it deletes nothing.
        tell("An item of another accessibility is in the way.", fails: ShapeError.couldNotStore(errSecDuplicateItem)) {
            try box.store(Data("two".utf8), service: "shapes", account: "text", accessibility: kSecAttrAccessibleAlways)
        }
        tell("It is as it was.", try box.fetch(service: "shapes", account: "text") == Data("one".utf8))
        try box.forget(service: "shapes", account: "text")

        try box.storeCodable(Person(name: "Grace", year: 1906), account: "person")
        tell("A Codable value.", try box.fetchCodable(account: "person") == Person(name: "Grace", year: 1906))
        try box.forget(service: "shapes", account: "person")

        let preferences = Preferences()
        preferences.colour = "teal"
        tell("A property wrapper.", preferences.colour == "teal")
        preferences.colour = nil
        tell("A property that is nil.", preferences.colour == nil)

        let group = ProcessInfo.processInfo.processName
        let shared = SharedBox(group: group)
        try shared.store(Data("ours".utf8), account: "shared")
        tell("An item with a group and no service.", try shared.fetch(account: "shared") == Data("ours".utf8))
        _ = Statements.forget(account: "shared")

        try Expiry().keep("soon gone", for: 86_400)
        tell("A deletion for later has not happened.", try !box.fetch(service: "shapes", account: "expiring").isEmpty)
        try box.forget(service: "shapes", account: "expiring")
    }

    private static func biometry() async throws {
        let box = Box.shared
        do {
            _ = try await box.fetchWithBiometry(account: "biometry")
            tell("There is no sensor.", false)
        } catch ShapeError.noSensor {
            tell("There is no sensor.", true)
        }
        // Had the optional access control been lost, the item would be stored.
        do {
            try box.storeWithBiometry(
                Data("closed".utf8), account: "biometry", accessibility: kSecAttrAccessibleWhenUnlockedThisDeviceOnly)
            tell("Nothing is stored for a finger where none is enrolled.", false)
        } catch ShapeError.couldNotStore(errSecAuthFailed) {
            tell("Nothing is stored for a finger where none is enrolled.", true)
        }
        let prompted = await status { try await box.fetchWithPrompt(account: "biometry", reason: "To open the box") }
        tell("So there is nothing to be prompted for.", prompted == errSecItemNotFound)
    }

    private static func status(_ fetch: () async throws -> Data) async -> OSStatus {
        do {
            _ = try await fetch()
            return errSecSuccess
        } catch ShapeError.couldNotFetch(let status) {
            return status
        } catch {
            return errSecDecode
        }
    }

    private static func statements() throws {
        let accessible = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        // There is no finger enrolled that it could be stored for.
        let status = Statements.store("closed", account: "closed", accessibility: accessible)
        tell("An access control.", status == errSecAuthFailed)
        tell("Nothing was stored.", Statements.fetch(account: "closed").status == errSecItemNotFound)
        tell("Not a protection class.", Statements.store("x", account: "x", accessibility: "no" as CFString) == nil)
        tell("CF values.", Statements.storeFreely("open", account: "open") == noErr)
        tell("A pointer to the result.", Statements.fetch(account: "open") == (noErr, "open"))
        tell("Deleted.", Statements.forget(account: "open") == noErr)
    }

    private static func chest() throws {
        for kind in [Chest.Kind.password, .website] {
            let attributes: Chest.Attributes = [
                kSecAttrLabel: "Shape"
            ]
            let chest = Chest.shared
            try chest.add("first", kind: kind, name: "item", attributes: attributes)
            tell("Added.", try chest.get(kind: kind, name: "item", attributes: attributes) == "first")
            tell("Present already.", fails: Chest.Problem.present) {
                try chest.add("again", kind: kind, name: "item", attributes: attributes)
            }
            try chest.change(to: "second", kind: kind, name: "item", attributes: attributes)
            tell("Changed.", try chest.get(kind: kind, name: "item", attributes: attributes) == "second")
            try chest.remove(kind: kind, name: "item", attributes: attributes)
            tell("Missing.", fails: Chest.Problem.missing) {
                let _: String = try chest.get(kind: kind, name: "item", attributes: attributes)
            }
        }
    }
}
