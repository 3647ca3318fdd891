internal import Foundation
internal import Glibc
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

/// What there is at a store's place, seen from outside and without making anything.
enum StorePresence: Equatable {
    case absent
    /// Both files are there; whether they can be used only opening them tells.
    case present
    /// One of the two files is there without the other.
    case incomplete(missing: String)

    /// A file that cannot be looked at counts as there: opening it will say what is wrong, while "there is none"
    /// would be a guess.
    init(_ location: StoreLocation) {
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
