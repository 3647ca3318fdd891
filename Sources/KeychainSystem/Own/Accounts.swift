package import Glibc

/// Looks up accounts by name.
package struct Accounts: Sendable {
    package typealias Lookup<Key, Value> = @Sendable (Key) throws(SystemError) -> Value

    package let user: Lookup<String, uid_t?>
    package let group: Lookup<String, gid_t?>
    /// The users that have a group, as their first one or as another.
    package let members: Lookup<gid_t, [String]>

    package init(
        user: @escaping Lookup<String, uid_t?>, group: @escaping Lookup<String, gid_t?>,
        members: @escaping Lookup<gid_t, [String]>
    ) {
        self.user = user
        self.group = group
        self.members = members
    }

    package static let ofSystem = Accounts(
        user: AccountDatabase.user(named:), group: AccountDatabase.group(named:), members: AccountDatabase.members(of:))

    /// The accounts of a system that is to come: every name has an account, and a new group has no member.
    package static let ofAnySystem = Accounts(
        user: { name throws(SystemError) in try AccountDatabase.user(named: name) ?? .max },
        group: { name throws(SystemError) in try AccountDatabase.group(named: name) ?? .max },
        members: { group throws(SystemError) in group == .max ? [] : try AccountDatabase.members(of: group) })
}
