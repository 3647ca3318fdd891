/// The keys of an entitlements file that name access groups, and the rule for their values. The plugin's generator reads such
/// files during a build and a program reads the one beside it, and both say the same of one file.
package enum AccessGroupKey: String, CaseIterable, CodingKey {
    case groups = "keychain-access-groups"
    case associated = "com.apple.developer.associated-application-identifier"
    case application = "application-identifier"
    case otherApplication = "com.apple.application-identifier"
    case applicationGroups = "com.apple.security.application-groups"

    /// Whether codesign gives it an array of strings, and not a string.
    package var isList: Bool { self != .application && self != .otherApplication }

    /// - Parameter names: nil: the value has another type.
    /// - Throws: The flaw, for a value that names no groups.
    package func checked(_ names: [String]?) throws(EntitlementFlaw) -> [String] {
        guard let names else {
            throw EntitlementFlaw("\(rawValue) is not \(isList ? "an array of strings" : "a string")")
        }
        // Xcode replaces these before it signs. Kept as they are, they would name a group that no code asks for.
        if let name = names.first(where: { $0.contains("$(") || $0.contains("${") }) {
            throw EntitlementFlaw(
                "\(rawValue) has \(name): only Xcode replaces build settings, write the name in full")
        }
        return names
    }
}

/// The entries of a property list that name access groups.
package struct AccessGroupEntries: Decodable {
    private let names: [AccessGroupKey: [String]]

    /// - Throws: ``EntitlementFlaw``, for the first entry that names no groups.
    package init(from decoder: any Decoder) throws {
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

    private var identifiers: [String] { names[.application] ?? names[.otherApplication] ?? [] }

    /// The application identifier, as it is written.
    package var application: String? { identifiers.first { !$0.isEmpty } }

    /// Every name in Apple's order: listed groups, associated application, application, application groups.
    package var inOrder: [String] {
        (names[.groups] ?? []) + (names[.associated] ?? []) + identifiers + (names[.applicationGroups] ?? [])
    }
}

/// The fault of an entitlements file, with the key that has it.
package struct EntitlementFlaw: Error, CustomStringConvertible {
    package let description: String

    fileprivate init(_ description: String) { self.description = description }
}
