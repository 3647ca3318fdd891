/// The kernel's facts about the caller's process, as it was when it connected.
///
/// It decides nothing yet: every program of a user counts as the same (docs/threat-model.md).
package final class CallerEvidence: Sendable {
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32
    /// The supplementary groups.
    package let groups: [UInt32]
    /// The program's file; nil if it could not be read. A process can have become another program since.
    package let executable: String?
    /// The process's name in a security module such as AppArmor or SELinux; nil if there is no such module.
    package let securityLabel: String?

    package init(
        pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32], executable: String?, securityLabel: String?
    ) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.groups = groups
        self.executable = executable
        self.securityLabel = securityLabel
    }
}
