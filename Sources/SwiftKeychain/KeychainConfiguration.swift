public import Foundation

/// Which keychain a process uses, and as whom.
///
/// A program that sets nothing gets what its environment and its entitlements say. Set ``processDefault``
/// before the first keychain call, for instance in a test or in a server that keeps its store elsewhere:
///
/// ```swift
/// KeychainConfiguration.processDefault.storeDirectory = URL(filePath: "/var/lib/myserver/keychain")
/// KeychainConfiguration.processDefault.accessGroups = ["com.example.myserver"]
/// ```
public struct KeychainConfiguration: Sendable, Hashable {
    /// Where the engine runs.
    public struct Host: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case embedded, user, system
            case socket(String)
        }
        let kind: Kind

        /// In this process. Nothing has to be installed; access groups keep honest programs apart, but any
        /// program of the same user can read the store's files and the device key.
        public static let embedded = Host(kind: .embedded)

        /// In the user's `keychaind`, which has the keys in memory that no other program can read. Access groups keep
        /// honest programs apart: any program of the same user can ask it for any group.
        public static let user = Host(kind: .user)

        /// In a `keychaind` of the whole machine. This version has none: every call ends with `errSecNotAvailable`
        /// (−25291).
        public static let system = Host(kind: .system)

        /// In a `keychaind` that listens at a path of its own. It must be run by this user or by root.
        public static func socket(_ file: URL) -> Host { Host(kind: .socket(file.path)) }
    }

    /// nil: the first of these that says something. The environment variable `KEYCHAIN_HOST` (`embedded`, `user`,
    /// `system` or `unix:/PATH`); ``storeDirectory`` or `KEYCHAIN_HOME`, which mean the embedded one; the file
    /// `/etc/keychain/host`, with one of the same words; the user's store, if it belongs to a daemon
    /// (`keychainctl migrate`). Otherwise it is embedded.
    ///
    /// A daemon that is chosen and not there is an error (−25291): another host is never taken in its place.
    public var host: Host?

    /// The directory of the store. nil: `$KEYCHAIN_HOME`, else `$XDG_DATA_HOME/keychain`, else
    /// `~/.local/share/keychain`; a program with raised privileges ignores the environment.
    public var storeDirectory: URL?

    /// The directory of the device key, which should not be within the store's. nil: `$XDG_STATE_HOME/keychain`,
    /// else `~/.local/state/keychain`; for a service of systemd with a credential `keychain.device-key`, that.
    ///
    /// A store opens only with the device key it was made with.
    public var deviceKeyDirectory: URL?

    /// The access groups of this process, the first one being where its items go. nil: those of its
    /// entitlements, else one group with the name of its bundle or executable.
    ///
    /// On the embedded host this is a namespace and no boundary: any program can name any group.
    public var accessGroups: [String]?

    public init() {}
}
