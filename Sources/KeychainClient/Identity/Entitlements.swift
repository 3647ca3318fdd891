internal import FoundationEssentials
internal import KeychainEntitlements
internal import KeychainModel

/// The access groups that a property list with Apple's entitlement keys gives a program.
struct Entitlements {
    /// In Apple's order: listed groups, associated application, application, application groups, and the
    /// read-only token group at the very end. The first one is where new items go.
    let groups: [String]
    /// The application identifier, as it is written.
    let application: String?

    /// - Throws: `.notAvailable` for bytes that are no property list with a dictionary, and for an entry that names no
    ///   groups (``AccessGroupKey/checked(_:)``).
    init(propertyList: Data, from origin: String) throws(KeychainError) {
        do {
            // PropertyListSerialization crashes on some damaged binary lists.
            self.init(try PropertyListDecoder().decode(Entries.self, from: propertyList))
        } catch let flaw as EntitlementFlaw {
            throw KeychainError(.notAvailable, message: "the entitlements in \(origin): \(flaw)")
        } catch {
            throw KeychainError(
                .notAvailable, message: "the entitlements in \(origin) are not a property list with a dictionary",
                cause: error)
        }
    }

    private init(_ entries: Entries) {
        func names(_ key: AccessGroupKey) -> [String] { entries.names[key] ?? [] }
        let identifiers = names(.application).isEmpty ? names(.otherApplication) : names(.application)
        application = identifiers.first { !$0.isEmpty }
        let ordered = names(.groups) + names(.associated) + identifiers + names(.applicationGroups)
        let listed = ordered.uniqueGroups.filter { !$0.isEmpty && !$0.isSameGroup(as: Caller.tokenGroup) }
        groups = listed + (ordered.containsGroup(Caller.tokenGroup) ? [Caller.tokenGroup] : [])
    }
}

/// The entries of an entitlements file that name access groups.
private struct Entries: Decodable {
    let names: [AccessGroupKey: [String]]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AccessGroupKey.self)
        var names: [AccessGroupKey: [String]] = [:]
        for key in AccessGroupKey.allCases where container.contains(key) {
            names[key] = try key.checked(
                key.isList
                    ? try? container.decode([String].self, forKey: key)
                    : (try? container.decode(String.self, forKey: key)).map { [$0] })
        }
        self.names = names
    }
}
