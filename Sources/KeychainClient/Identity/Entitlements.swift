internal import FoundationEssentials
internal import KeychainEntitlements
internal import KeychainModel

/// The access groups that a property list with Apple's entitlement keys gives a program.
struct Entitlements {
    /// In Apple's order (``AccessGroupEntries/inOrder``), and the read-only token group at the very end. The first one is
    /// where new items go.
    let groups: [String]
    /// The application identifier, as it is written.
    let application: String?

    /// - Throws: `.notAvailable` for bytes that are no property list with a dictionary, and for an entry that names no
    ///   groups (``AccessGroupKey/checked(_:)``).
    init(propertyList: Data, from origin: String) throws(KeychainError) {
        do {
            // PropertyListSerialization crashes on some damaged binary lists.
            self.init(try PropertyListDecoder().decode(AccessGroupEntries.self, from: propertyList))
        } catch let flaw as EntitlementFlaw {
            throw KeychainError(.notAvailable, message: "the entitlements in \(origin): \(flaw)")
        } catch {
            throw KeychainError(
                .notAvailable, message: "the entitlements in \(origin) are not a property list with a dictionary",
                cause: error)
        }
    }

    private init(_ entries: AccessGroupEntries) {
        application = entries.application
        let ordered = entries.inOrder
        let listed = ordered.uniqueGroups.filter { !$0.isEmpty && !$0.isSameGroup(as: Caller.tokenGroup) }
        groups = listed + (ordered.containsGroup(Caller.tokenGroup) ? [Caller.tokenGroup] : [])
    }
}
