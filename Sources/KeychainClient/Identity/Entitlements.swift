internal import Foundation
internal import KeychainModel

/// The access groups that a property list with Apple's entitlement keys gives a program.
struct Entitlements {
    /// In Apple's order: listed groups, associated application, application, application groups, and the
    /// read-only token group at the very end. The first one is where new items go.
    let groups: [String]
    /// The application identifier, as it is written.
    let application: String?

    /// - Throws: `.notAvailable` for bytes that are no property list with a dictionary.
    init(propertyList: Data, from origin: String) throws(KeychainError) {
        do {
            // Not PropertyListSerialization, which crashes on some damaged binary lists.
            self.init(try PropertyListDecoder().decode(Entries.self, from: propertyList))
        } catch {
            throw KeychainError(
                .notAvailable, message: "the entitlements in \(origin) are not a property list with a dictionary",
                cause: error)
        }
    }

    private init(_ entries: Entries) {
        application = entries.application.first
        let ordered = entries.groups + entries.associated + entries.application + entries.applicationGroups
        let listed = ordered.uniqueGroups.filter { !$0.isEmpty && !$0.isSameGroup(as: Caller.tokenGroup) }
        groups = listed + (ordered.containsGroup(Caller.tokenGroup) ? [Caller.tokenGroup] : [])
    }
}

/// The entries of an entitlements file that name access groups. One of another type counts as absent, as on Apple's
/// systems.
private struct Entries: Decodable {
    let groups: [String]
    let associated: [String]
    let application: [String]
    let applicationGroups: [String]

    private enum CodingKeys: String, CodingKey {
        case groups = "keychain-access-groups"
        case associated = "com.apple.developer.associated-application-identifier"
        case application = "application-identifier"
        case otherApplication = "com.apple.application-identifier"
        case applicationGroups = "com.apple.security.application-groups"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func list(_ key: CodingKeys) -> [String] { (try? container.decode([String].self, forKey: key)) ?? [] }
        func name(_ key: CodingKeys) -> [String] {
            (try? container.decode(String.self, forKey: key)).map { [$0] } ?? []
        }

        groups = list(.groups)
        associated = list(.associated)
        let first = name(.application)
        application = first.isEmpty ? name(.otherApplication) : first
        applicationGroups = list(.applicationGroups)
    }
}
