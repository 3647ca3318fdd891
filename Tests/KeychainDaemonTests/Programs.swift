import Glibc

@testable import KeychainDaemon

/// A process of a user; with no user named, all are of the same one.
func program(_ pid: Int32, of user: uid_t = 1) -> ClientProcess { ClientProcess(user: user, pid: pid) }
