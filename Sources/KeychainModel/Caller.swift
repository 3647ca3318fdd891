/// The origin of a request, as the host established it.
package struct Caller: Sendable {
    /// The source of the caller's groups decides how far its claims count.
    package enum Authority: Sendable, Hashable {
        /// Holds exactly the groups listed.
        case groups
        /// Owns the store: reads, changes and deletes in every group. The `keychainctl` command, embedded.
        case owner
        /// Says that it owns the store, and has to show it for the owner's work. Its other requests reach the groups
        /// listed. The system's daemon makes this of a client's claim; no message has it.
        case claimedOwner
    }

    /// The access groups in order; an add without a group goes to the first one that can be written.
    package var groups: [String]
    package var authority: Authority
    /// The kernel's facts about its process; nil if the engine is in that process. Two callers are equal without it.
    package var evidence: CallerEvidence?

    package init(groups: [String], authority: Authority = .groups, evidence: CallerEvidence? = nil) {
        self.groups = groups
        self.authority = authority
        self.evidence = evidence
    }

    /// The group that all programs without an identity of their own share on the system's host. Where programs name their
    /// groups themselves, each has it too, so that items that come back from there are found.
    package static let unconfinedGroup = "unconfined"

    /// The group that Apple's keychain lets every program read and none write.
    package static let tokenGroup = "com.apple.token"
}

extension Caller: Hashable {
    package static func == (a: Caller, b: Caller) -> Bool {
        a.authority == b.authority && a.groups.elementsEqual(b.groups) { $0.isSameGroup(as: $1) }
    }

    /// Names with the same bytes are equal to Swift too, so its own hash will do.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(groups)
        hasher.combine(authority)
    }
}
