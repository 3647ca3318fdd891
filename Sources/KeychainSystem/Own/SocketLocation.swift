package import FoundationEssentials
package import Glibc
package import KeychainModel

/// The sockets of daemons.
package enum SocketLocation {
    package static var ofSystem: URL { URL(fileURLWithPath: "/run/keychain/socket") }

    /// `$XDG_RUNTIME_DIR/keychain/socket`; without that variable the directory is the one that logind makes for a user.
    package static func ofUser(
        _ environment: Environment, _ user: uid_t = geteuid()
    ) throws(KeychainError) -> URL {
        let runtime =
            try environment.directory("XDG_RUNTIME_DIR")
            ?? URL(fileURLWithPath: "/run/user/\(user)", isDirectory: true)
        return runtime.appendingPathComponent("keychain").appendingPathComponent("socket")
    }
}
