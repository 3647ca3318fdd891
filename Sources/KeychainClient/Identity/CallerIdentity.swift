internal import FoundationEssentials
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

    /// - Throws: `.notAvailable` if there are entitlements that cannot be read: a program must not quietly become
    ///   another one.
    package init(_ configuration: KeychainConfiguration) throws(KeychainError) {
        try self.init(configuration, process: .current)
    }

    init(caller: Caller, source: Source, entitlementsFile: String?) {
        self.caller = caller
        self.source = source
        self.entitlementsFile = entitlementsFile
    }

    init(_ configuration: KeychainConfiguration, process: ProcessDescription) throws(KeychainError) {
        let file = process.entitlementsFile
        if let groups = configuration.accessGroups {
            self.init(caller: Caller(groups: groups), source: .code, entitlementsFile: file)
        } else if let entitlements = try process.embeddedEntitlements() {
            self.init(
                caller: Caller(groups: entitlements.groups), source: .embeddedEntitlements, entitlementsFile: file)
        } else if let entitlements = try process.entitlements(at: file) {
            self.init(
                caller: Caller(groups: entitlements.groups), source: .entitlementsFile(file), entitlementsFile: file)
        } else if let bundle = process.bundleIdentifier {
            self.init(caller: Caller(groups: [bundle]), source: .bundleIdentifier, entitlementsFile: file)
        } else {
            self.init(caller: Caller(groups: [process.executableName]), source: .executableName, entitlementsFile: file)
        }
    }

    /// The name that this process is known by, found once.
    package static let processName = Result { () throws(KeychainError) in try ProcessDescription.current.name() }

    /// The error with advice in its text.
    func explaining(_ error: KeychainError) -> KeychainError {
        // The group for reading alone cannot be given to a program.
        guard let entitlementsFile, !error.message.contains(Caller.tokenGroup) else { return error }
        var error = error
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
}
