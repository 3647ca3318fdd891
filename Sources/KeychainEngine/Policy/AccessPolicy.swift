internal import KeychainModel

/// The groups a request may touch.
enum GroupScope: Sendable {
    case all
    case some([String])

    var isAll: Bool {
        if case .all = self { true } else { false }
    }

    func contains(_ group: String) -> Bool {
        switch self {
        case .all: true
        case .some(let groups): groups.containsGroup(group)
        }
    }
}

/// Decides which access groups a caller's request reaches.
///
/// A request that names a foreign group, and a caller without any group, get an error. To other requests the items of
/// foreign groups do not exist (docs/compatibility.md, access groups).
struct AccessPolicy {
    let caller: Caller

    /// The groups a search looks through.
    func scopeForReading(_ requested: String?) throws(KeychainError) -> GroupScope {
        try scope(requested, readable: caller.groups + [Caller.tokenGroup])
    }

    /// The groups in which an update or a delete takes effect.
    func scopeForWriting(_ requested: String?) throws(KeychainError) -> GroupScope {
        try scope(requested, readable: writableGroups)
    }

    /// The group an item is added or moved to.
    func groupForAdding(_ requested: String?) throws(KeychainError) -> String {
        if let requested, caller.authority == .owner, !requested.isSameGroup(as: Caller.tokenGroup) { return requested }
        guard let fallback = writableGroups.first else { throw holdsNone }
        guard let requested else { return fallback }
        guard writableGroups.containsGroup(requested) else { throw isMissing(requested) }
        return requested
    }

    /// The groups whose items count for the caller.
    var visibleScope: GroupScope {
        caller.authority == .owner ? .all : .some(caller.groups + [Caller.tokenGroup])
    }

    /// - Parameters:
    ///   - work: The rest of the sentence "only the owner of the keychain".
    ///   - hasShownPasscode: Whether the request came with the right passcode.
    ///   - hasPasscode: Whether there is one to show.
    /// - Throws: for a caller that claims to be the owner, with the challenge to show the passcode, or with the signal
    ///   `.needsOwner` if none is set.
    func requireOwner(_ work: String, hasShownPasscode: Bool, hasPasscode: Bool) throws(KeychainError) {
        var refusal = KeychainError(.missingEntitlement, message: "only the owner of the keychain \(work)")
        switch caller.authority {
        case .owner: return
        case .groups: throw refusal
        case .claimedOwner:
            if hasShownPasscode { return }
            if hasPasscode { throw .authenticationNeeded([[.passcode]]) }
            refusal.message += ", and without a passcode nothing here shows that this program works for the owner"
            refusal.signal = .needsOwner
            throw refusal
        }
    }

    private var writableGroups: [String] { caller.groups.filter { !$0.isSameGroup(as: Caller.tokenGroup) } }

    private func scope(_ requested: String?, readable: [String]) throws(KeychainError) -> GroupScope {
        if caller.authority == .owner { return requested.map { .some([$0]) } ?? .all }
        guard !caller.groups.isEmpty else { throw holdsNone }
        guard let requested else { return .some(readable) }
        guard readable.containsGroup(requested) else { throw isMissing(requested) }
        return .some([requested])
    }

    private var holdsNone: KeychainError {
        KeychainError(
            .missingEntitlement,
            message: "this program holds no access group, and needs one")
    }

    private func isMissing(_ group: String) -> KeychainError {
        let held = writableGroups.isEmpty ? "none" : writableGroups.joined(separator: ", ")
        let reason =
            group.isSameGroup(as: Caller.tokenGroup)
            ? "access group \(group) can be read but not written"
            : "access group \(group) is not among yours: \(held)"
        return KeychainError(.missingEntitlement, message: reason)
    }
}
