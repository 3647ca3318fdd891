package import Glibc
internal import KeychainModel
internal import KeychainSystem

/// A file by which root gives access groups to a program that has an identity of its own.
package struct EntitlementManifest: Sendable, Hashable {
    /// The identity, as the kernel and the service manager know it.
    package enum Subject: Sendable, Hashable {
        case unit(String)
        case group(gid_t)
        case user(uid_t)
    }

    package let subject: Subject
    /// As it is written: a unit, a group or a user.
    package let subjectName: String
    /// In Apple's order. The first one is where new items go.
    package let groups: [String]
    package let path: String
}

/// The fault of a manifest, or of the directory that it lies in.
package struct ManifestFlaw: Error, Sendable, Hashable {
    package let path: String
    /// A clause that follows the path: "belongs to user 1000".
    package let text: String
    /// The program that the manifest is for, as far as that can be read. It is refused: without its groups its items would
    /// lie among those of others.
    package var subject: EntitlementManifest.Subject?

    package init(path: String, text: String, subject: EntitlementManifest.Subject? = nil) {
        self.path = path
        self.text = text
        self.subject = subject
    }
}

extension EntitlementManifest {
    /// Groups that no file can give: one that no program may write, that of all programs without an identity, and a word
    /// that would look like all groups.
    private static let reserved = [Caller.tokenGroup, "unconfined", "*"]

    /// - Parameter accounts: Where the user or the group is looked up.
    /// - Throws: The flaw of bytes that grant nothing.
    package init(_ bytes: [UInt8], path: String, accounts: Accounts) throws(ManifestFlaw) {
        let content: ManifestContent
        do throws(ManifestContent.Unreadable) { content = try ManifestContent(bytes) } catch {
            throw ManifestFlaw(path: path, text: error.text)
        }
        guard let identity = content.identity else {
            throw ManifestFlaw(path: path, text: content.flaw ?? "names no program")
        }
        let subject: Subject
        do throws(Identity.Unknown) { subject = try identity.subject(accounts) } catch {
            throw ManifestFlaw(path: path, text: error.text)
        }
        if let text = content.flaw ?? Self.flaw(of: content.groups) ?? identity.flaw(as: subject, accounts) {
            throw ManifestFlaw(path: path, text: text, subject: subject)
        }
        self.init(subject: subject, subjectName: identity.name, groups: content.groups.uniqueGroups, path: path)
    }

    private static func flaw(of groups: [String]) -> String? {
        if groups.isEmpty { return "gives no group" }
        if groups.contains("") { return "gives a group without a name" }
        return reserved.first(where: groups.containsGroup).map { "gives the group \($0), which no file can give" }
    }
}

/// A program's name in a manifest, and the kind of thing that it names.
struct Identity: Sendable, Hashable {
    enum Kind: String, CaseIterable {
        case unit = "swift-keychain.unit"
        case group = "swift-keychain.group"
        case user = "swift-keychain.user"
    }

    struct Unknown: Error { let text: String }

    let kind: Kind
    let name: String

    func subject(_ accounts: Accounts) throws(Unknown) -> EntitlementManifest.Subject {
        switch kind {
        case .unit: return .unit(name)
        case .group:
            guard let group = accounts.group(name) else {
                throw Unknown(text: "is for the group \(name), which does not exist")
            }
            return .group(group)
        case .user:
            guard let user = accounts.user(name) else {
                throw Unknown(text: "is for the user \(name), who does not exist")
            }
            return .user(user)
        }
    }

    /// The reason why it is no identity of one program.
    func flaw(as subject: EntitlementManifest.Subject, _ accounts: Accounts) -> String? {
        switch subject {
        case .unit: return unitFlaw
        case .user: return nil
        case .group(let group):
            guard let member = accounts.members(group).first else { return nil }
            return
                "is for the group \(name), which the user \(member) has: every program of that user would have it too"
        }
    }

    /// systemd.unit(5): a service can have a user of its own. An instance has a name behind its "@".
    private var unitFlaw: String? {
        let suffix = ".service"
        let marks = Set(":-_.\\@".utf8)
        let stem = name.utf8.dropLast(suffix.utf8.count)
        guard name.hasSuffix(suffix), name.utf8.count < 256, let last = stem.last, last != UInt8(ascii: "@"),
            stem.first != UInt8(ascii: "@"),
            stem.allSatisfy({ marks.contains($0) || ($0 < 0x80 && Character(UnicodeScalar($0)).isLetterOrDigit) })
        else { return "is for the unit \(name), which is no name of a service (NAME.service)" }
        return nil
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { isLetter || isNumber }
}

/// Looks up accounts by name.
package struct Accounts: Sendable {
    package var user: @Sendable (String) -> uid_t?
    package var group: @Sendable (String) -> gid_t?
    /// The users that have a group, as their first one or as another.
    package var members: @Sendable (gid_t) -> [String]

    package init(
        user: @escaping @Sendable (String) -> uid_t?, group: @escaping @Sendable (String) -> gid_t?,
        members: @escaping @Sendable (gid_t) -> [String]
    ) {
        self.user = user
        self.group = group
        self.members = members
    }

    package static let ofSystem = Accounts(
        user: AccountDatabase.user(named:), group: AccountDatabase.group(named:), members: AccountDatabase.members(of:))
}
