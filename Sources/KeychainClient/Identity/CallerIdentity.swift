internal import Glibc
package import KeychainModel

/// The identity of a process for an embedded keychain, and the source of it.
package struct CallerIdentity: Sendable, Hashable {
    /// The source of the access groups.
    package enum Source: Sendable, Hashable {
        case code
        case embeddedEntitlements
        case entitlementsFile(String)
        case bundleIdentifier
        case executableName
    }

    package var caller: Caller
    package var source: Source
    /// The file that gives this executable entitlements, whether it is there or not.
    package var entitlementsFile: String?
}

extension CallerIdentity {
    /// - Throws: `.notAvailable` if there are entitlements that cannot be read: a program must not quietly become
    ///   another one.
    package init(_ configuration: KeychainConfiguration) throws(KeychainError) {
        try self.init(configuration, process: .current)
    }

    init(_ configuration: KeychainConfiguration, process: ProcessDescription) throws(KeychainError) {
        let file = process.entitlementsFile
        var groups: [String]
        let source: Source
        if let named = configuration.accessGroups {
            (groups, source) = (named, .code)
        } else if let entitlements = try process.embeddedEntitlements() {
            (groups, source) = (entitlements.groups, .embeddedEntitlements)
        } else if let entitlements = try process.entitlements(at: file) {
            (groups, source) = (entitlements.groups, .entitlementsFile(file))
        } else if let bundle = process.bundleIdentifier {
            (groups, source) = ([bundle], .bundleIdentifier)
        } else {
            (groups, source) = ([process.executableName], .executableName)
        }
        // A program that is to have no group has none.
        if !groups.isEmpty && !groups.containsGroup(Caller.unconfinedGroup) {
            let end = groups.last?.isSameGroup(as: Caller.tokenGroup) == true ? groups.endIndex - 1 : groups.endIndex
            groups.insert(Caller.unconfinedGroup, at: end)
        }
        self.init(caller: Caller(groups: groups), source: source, entitlementsFile: file)
    }

    /// The name that this process is known by, found once.
    package static let processName = Result { () throws(KeychainError) in try ProcessDescription.current.name() }

    /// The error with advice in its text.
    ///
    /// - Parameter granted: The identity by the system's daemon, which gives a program its groups.
    func explaining(_ error: KeychainError, granted: CallerDescription?) -> KeychainError {
        // The group for reading alone cannot be given to a program.
        guard error.message.contains("access group"), !error.message.contains(Caller.tokenGroup) else { return error }
        var error = error
        if let granted {
            error.message += ". " + granted.wayToGroups
            return error
        }
        guard let entitlementsFile else { return error }
        switch source {
        case .code:
            error.message += ". Name the group in KeychainConfiguration.accessGroups, where the program sets its groups"
        case .embeddedEntitlements:
            error.message +=
                ". List the group under keychain-access-groups in the target's entitlements file and build again"
        case .entitlementsFile, .bundleIdentifier, .executableName:
            error.message += ". List the group under keychain-access-groups in \(entitlementsFile)"
        }
        return error
    }

    /// The caller as a host sees it that goes by the program's own word.
    var declared: CallerDescription {
        let evidence =
            switch source {
            case .code: "the program sets its groups itself"
            case .embeddedEntitlements: "its entitlements are embedded in it"
            case .entitlementsFile(let file): "its entitlements are in \(file)"
            case .bundleIdentifier: "its bundle has the identifier, and no entitlements"
            case .executableName: "its file has the name, and no entitlements"
            }
        return CallerDescription(
            kind: .declared, groups: caller.groups, evidence: [evidence], pid: getpid(), uid: geteuid())
    }
}

extension CallerDescription {
    /// The advice to a program that lacks a group. Only root gives groups.
    fileprivate var wayToGroups: String {
        let directory = "/etc/keychain/entitlements.d"
        let key: String
        switch kind {
        case .unit: key = "unit"
        case .setgid: key = "group"
        case .user: key = "user"
        case .unconfined, .declared:
            return "This program is one of all that run as its user without an identity of their own: ask the "
                + "administrator for one (a system unit, or a setgid group) and for a manifest in \(directory)"
        }
        return "Ask the administrator to list it under keychain-access-groups in the manifest in \(directory) that has "
            + "swift-keychain.\(key) = \(name ?? "")"
    }
}
