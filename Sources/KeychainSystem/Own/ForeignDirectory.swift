package import FoundationEssentials
internal import Glibc
internal import KeychainModel

/// A directory of another user.
package struct ForeignDirectory {
    package let url: URL
    private let owner: uid_t

    private init?(_ url: URL) {
        var status = stat()
        guard stat(url.path, &status) == 0, status.st_uid != geteuid() else { return nil }
        self.url = url
        owner = status.st_uid
    }

    /// The directory itself, or the first one above it that keeps this user out; nil: there is none.
    package static func onTheWay(to directory: URL) -> ForeignDirectory? {
        let directory = directory.standardizedFileURL
        var above: [URL] = []
        while above.last?.path != "/" { above.append((above.last ?? directory).deletingLastPathComponent()) }
        let closed = above.reversed().first { ForeignDirectory($0) != nil && !FilePath.permits($0.path, X_OK) }
        return ForeignDirectory(closed ?? directory)
    }

    package var flaw: String { "belongs to user \(owner), and this program runs as \(geteuid())" }

    /// A command that gives the directory to this user. A first `keychainctl` under sudo makes a store, perhaps with the
    /// directories above it, that its own person cannot open. nil: nothing says that the directory is meant for this user.
    package var wayBack: String? {
        var parent = stat()
        guard owner == 0, stat(url.deletingLastPathComponent().path, &parent) == 0, parent.st_uid == geteuid() else {
            return nil
        }
        return "sudo chown -R \(geteuid()) '\(url.path)'"
    }

    var error: KeychainError {
        KeychainError(
            .notAvailable,
            message: "the directory \(url.path) \(flaw). "
                + (wayBack.map { "If a command under sudo has made it, this gives it back: \($0)" }
                    ?? "Run it as that user, or name a keychain of your own"))
    }

    // MARK: Making something below it

    /// The directory in which a missing one, or the first missing one above it, would be made. nil: it may be made there, by
    /// a user in a directory of that user, of root, or in one where everybody makes files of their own, such as `/tmp`.
    static func around(missing directory: URL) -> ForeignDirectory? {
        var place = directory
        while !FilePath.exists(place.path), place.path != "/" { place.deleteLastPathComponent() }
        guard place.path != directory.path, let foreign = ForeignDirectory(place), foreign.owner != 0 else {
            return nil
        }
        var status = stat()
        let isShared = stat(place.path, &status) == 0 && status.st_mode & 0o1002 == 0o1002
        return isShared ? nil : foreign
    }

    func refusal(toMake directory: URL) -> KeychainError {
        let person = AccountDatabase.name(of: owner) ?? "#\(owner)"
        let own = AccountDatabase.name(of: geteuid()) ?? "\(geteuid())"
        return KeychainError(
            .notAvailable,
            message:
                "\(directory.path) is not made: \(url.path) \(flaw), and that user could not open it. Run "
                + "this as that user (sudo -u '\(person)'). If it is to belong to \(own) all the same, make that directory "
                + "first, or have keychainctl make it with --owner \(own)")
    }
}
