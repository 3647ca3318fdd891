public import FoundationEssentials

/// The place of a process's keychain, and the access groups that the process holds.
///
/// A program that sets nothing gets the keychain of its environment and the groups of its entitlements. A server that
/// keeps its store elsewhere sets ``processDefault`` before the first keychain call:
///
/// ```swift
/// KeychainConfiguration.processDefault.storeDirectory = URL(filePath: "/var/lib/myserver/keychain")
/// KeychainConfiguration.processDefault.accessGroups = ["com.example.myserver"]
/// ```
///
/// A configuration is a value: making or changing one opens nothing and checks nothing. A wrong directory shows with
/// the first call, as `KeychainError.Code.notAvailable`.
public struct KeychainConfiguration: Sendable, Hashable {
    /// The place where the engine runs. The engine is the part of the library that opens the store and has the keys.
    ///
    /// Only ``system`` protects items from another program of this user that means harm, and only the items of a program
    /// with an identity of its own.
    public struct Host: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case embedded, user, system
            case socket(String)
        }
        let kind: Kind

        /// The engine runs in this process, and needs no installation.
        ///
        /// Access groups keep honest programs apart. Any program of this user can read the store's files and the device
        /// key.
        public static let embedded = Host(kind: .embedded)

        /// The engine runs in the user's `keychaind`, whose memory other programs cannot read.
        ///
        /// Access groups keep honest programs apart. Any program of this user can ask the daemon for any group. Its
        /// socket is `$XDG_RUNTIME_DIR/keychain/socket`.
        public static let user = Host(kind: .user)

        /// The engine runs in a `keychaind` of the whole machine, under an account of its own. Its socket is
        /// `/run/keychain/socket`.
        ///
        /// The daemon gives a program its access groups, by the kernel's evidence and the manifests of root in
        /// `/etc/keychain/entitlements.d`; groups that the program names itself do not count. A program that runs as a
        /// unit of the system with a user of its own, or whose file gives it a group of its own (setgid), keeps its items
        /// from every other program of the user. All other programs of a user share the one group `unconfined`.
        ///
        /// A program is its user's deputy: another program that starts it gets whatever it prints. A call throws
        /// `KeychainError.Code.missingEntitlement` (−34018) if the program's file gives it a group and the process was
        /// started without it.
        public static let system = Host(kind: .system)

        /// The engine runs in a `keychaind` that listens at another path. This user or root must run it.
        ///
        /// - Parameter file: The socket, an absolute path.
        public static func socket(_ file: URL) -> Host { Host(kind: .socket(file.path)) }
    }

    /// The place where the engine runs. `nil`, the default, takes the first of these that is set:
    ///
    /// 1. ``storeDirectory``, which means the embedded host;
    /// 2. the environment variable `KEYCHAIN_HOST`: `embedded`, `user`, `system` or `unix:/PATH`;
    /// 3. the environment variable `KEYCHAIN_HOME`, which means the embedded host;
    /// 4. the file `/etc/keychain/host`, with one of these words;
    /// 5. the mark of a daemon in the user's store, which `keychainctl migrate` writes;
    /// 6. the embedded host.
    ///
    /// A daemon that is chosen and does not answer is an error (−25291). The library never takes another host in its
    /// place, since the program would find an empty keychain there.
    public var host: Host?

    /// The directory of the store. The first call that needs it makes it, for its owner alone.
    ///
    /// `nil` means `$KEYCHAIN_HOME`, else `$XDG_DATA_HOME/keychain`, else `~/.local/share/keychain`. A program with
    /// raised privileges ignores the environment. A directory of another user, or one that others may write to, is
    /// refused. A program of root makes no missing directory in the home of another user: a store that is meant to
    /// lie there needs its directory made first.
    public var storeDirectory: URL?

    /// The directory of the device key, a file of 32 bytes without which the store does not open.
    ///
    /// Keep it apart from the store and from the store's backup: both together open a keychain without a passcode.
    /// `nil` means `$XDG_STATE_HOME/keychain`, else `~/.local/state/keychain`. For a service of systemd with a
    /// credential `keychain.device-key`, `nil` means that credential.
    public var deviceKeyDirectory: URL?

    /// Whether root may make missing directories of store and device key in the home of another user.
    package var mayLieInOthersHomes = false

    /// The access groups of this process. New items go to the first one.
    ///
    /// `nil` means the groups of the program's entitlements. Without entitlements it is one group, with the name of the
    /// program's bundle or executable. An item in a group that is not listed is not found, and naming such a group
    /// throws `KeychainError.Code.missingEntitlement`.
    ///
    /// With the embedded host, and with a daemon of the user, a group is a namespace and no boundary: any program of
    /// the user can name any group. With the system's daemon this list does not count: see ``Host/system``.
    public var accessGroups: [String]?

    /// The group of `keychainctl` and of the helpers, where programs name their groups themselves.
    package static let groupOfCommand = "keychain"

    /// Makes a configuration in which everything comes from the environment and the entitlements.
    public init() {}
}
