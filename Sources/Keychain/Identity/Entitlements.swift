internal import Foundation
internal import KeychainModel

/// The access groups that a property list with Apple's entitlement keys gives a program.
struct Entitlements {
    /// In Apple's order: listed groups, associated application, application, application groups, and the
    /// read-only token group at the very end. The first one is where new items go.
    let groups: [String]

    /// - Throws: `.notAvailable` for bytes that are no property list with a dictionary.
    init(propertyList: Data, from origin: String) throws(KeychainError) {
        let content: Any
        do {
            content = try PropertyListSerialization.propertyList(from: propertyList, format: nil)
        } catch {
            throw KeychainError(
                .notAvailable, message: "the entitlements in \(origin) are not a property list", cause: error)
        }
        guard let dictionary = content as? [String: Any] else {
            throw KeychainError(.notAvailable, message: "the entitlements in \(origin) are not a dictionary")
        }
        self.init(dictionary)
    }

    /// An entry of another type counts as absent, as on Apple's systems.
    init(_ entitlements: [String: Any]) {
        func list(_ key: String) -> [String] { entitlements[key] as? [String] ?? [] }
        func name(_ key: String) -> [String] { (entitlements[key] as? String).map { [$0] } ?? [] }

        let application = name("application-identifier")
        let ordered =
            list("keychain-access-groups")
            + list("com.apple.developer.associated-application-identifier")
            + (application.isEmpty ? name("com.apple.application-identifier") : application)
            + list("com.apple.security.application-groups")
        var seen: Set<String> = [Caller.tokenGroup, ""]
        let listed = ordered.filter { seen.insert($0).inserted }
        groups = listed + (ordered.contains(Caller.tokenGroup) ? [Caller.tokenGroup] : [])
    }
}
