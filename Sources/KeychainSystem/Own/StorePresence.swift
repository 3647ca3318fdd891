internal import FoundationEssentials
internal import Glibc
package import KeychainModel

/// The presence of a store's files, seen from outside. A look makes no store.
package enum StorePresence: Equatable {
    case absent
    /// Both files are there. Only an attempt to open them tells whether they can be used.
    case present
    /// One of the two files is there without the other.
    case incomplete(missing: String)

    /// A file that cannot be looked at counts as present: the attempt to open it tells what is wrong.
    package init(_ location: StoreLocation) {
        let missing = ["keychain.db", "keybag"].filter { name in
            var information = stat()
            return lstat(location.storeDirectory.appendingPathComponent(name).path, &information) != 0
                && errno == ENOENT
        }
        switch missing.count {
        case 0: self = .present
        case 1: self = .incomplete(missing: missing[0])
        default: self = .absent
        }
    }
}
