package import Glibc
internal import KeychainModel
package import KeychainSystem

/// A file by which root gives access groups to a program that has an identity of its own.
package struct EntitlementManifest: Sendable, Hashable {
    /// The identity, as the kernel and the service manager know it.
    package enum Subject: Sendable, Hashable {
        case unit(String)
        case group(gid_t)
        case user(uid_t)

        /// `unit`, `group` or `user`.
        package var kind: String {
            switch self {
            case .unit: "unit"
            case .group: "group"
            case .user: "user"
            }
        }
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
    package internal(set) var subject: EntitlementManifest.Subject?
    package internal(set) var subjectName: String?
    /// Whether the system could not be asked, as without a free descriptor. The program that the manifest is for is not
    /// known then, and the rest is no ground for a judgement.
    package internal(set) var mayPass = false

    init(path: String, text: String, subject: EntitlementManifest.Subject? = nil, subjectName: String? = nil) {
        (self.path, self.text, self.subject, self.subjectName) = (path, text, subject, subjectName)
    }

    init(path: String, _ error: SystemError) {
        self.init(path: path, text: "cannot be judged: \(error.message)")
        mayPass = true
    }

    /// Whether a file has the fault: its own, or that of a directory above it.
    package func concerns(_ file: String) -> Bool { FilePath.rest(of: file, below: path) != nil }
}

extension EntitlementManifest {
    /// Longer files are no manifests.
    package static let mostBytes = ManifestContent.mostBytes

    /// Groups that no file can give: one that no program may write, that of all programs without an identity, and a word
    /// that would look like all groups.
    private static let reserved = [Caller.tokenGroup, Caller.unconfinedGroup, "*"]

    /// - Parameter accounts: Where the user or the group is looked up.
    /// - Throws: The flaw of bytes that grant nothing.
    package init(_ bytes: [UInt8], path: String, accounts: Accounts) throws(ManifestFlaw) {
        let content = try ManifestContent(bytes, path)
        guard let identity = content.identity else { throw ManifestFlaw(path: path, text: content.flaw ?? "") }
        let subject: Subject?
        var text = content.flaw ?? Self.flaw(of: content.groups)
        do throws(SystemError) {
            subject = try identity.subject(accounts)
            if text == nil { text = try identity.flaw(as: subject, accounts) }
        } catch {
            throw ManifestFlaw(path: path, error)
        }
        guard let subject, text == nil else {
            throw ManifestFlaw(path: path, text: text ?? "", subject: subject, subjectName: identity.name)
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

    let kind: Kind
    let name: String

    var words: String { "\(kind.rawValue.dropFirst("swift-keychain.".count)) \(name)" }

    /// nil: there is no such account.
    func subject(_ accounts: Accounts) throws(SystemError) -> EntitlementManifest.Subject? {
        switch kind {
        case .unit: .unit(name)
        case .group: try accounts.group(name).map { .group($0) }
        case .user: try accounts.user(name).map { .user($0) }
        }
    }

    /// The reason why it is no identity of one program.
    func flaw(as subject: EntitlementManifest.Subject?, _ accounts: Accounts) throws(SystemError) -> String? {
        switch subject {
        case nil: "is for the \(words), which does not exist"
        case .unit: isService ? nil : "is for the \(words), which is no name of a service (NAME.service)"
        case .user: nil
        case .group(let group):
            try accounts.members(group).first.map {
                "is for the \(words), which the user \($0) has: every program of that user would have it"
            }
        }
    }

    /// systemd.unit(5): the characters of a name. Only a service has a user of its own, and a template is none: the name of
    /// an instance goes on behind its "@".
    private var isService: Bool {
        guard name.utf8.count < 256, name.utf8.reversed().starts(with: ".service".utf8.reversed()) else { return false }
        let stem = name.utf8.dropLast(".service".utf8.count)
        return stem.allSatisfy { $0.isLetterOrDigit || ":_.\\-@".utf8.contains($0) }
            && stem.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty }
    }
}
