/// The facts that a host knows about a caller, and the groups that follow from them.
package struct CallerDescription: Sendable, Hashable {
    /// The kinds of evidence, by their names in JSON.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The program says so itself: embedded, and with a daemon of the user.
        case declared
        /// A unit of the system's service manager, with a user of its own.
        case unit
        /// A group of its own, which its file gives to the process.
        case setgid
        /// A user whom a manifest names.
        case user
        /// No evidence. All such programs of a user are one to the host.
        case unconfined
    }

    package var kind: Kind
    /// The name of the unit, group or user; nil if the evidence has none.
    package var name: String?
    /// The access groups in order; an add without a group goes to the first one that can be written.
    package var groups: [String]
    /// The evidence for a person, one fact each.
    package var evidence: [String]
    package var pid: Int32
    package var uid: UInt32

    package init(
        kind: Kind, name: String? = nil, groups: [String], evidence: [String], pid: Int32, uid: UInt32
    ) {
        self.kind = kind
        self.name = name
        self.groups = groups
        self.evidence = evidence
        self.pid = pid
        self.uid = uid
    }
}
