package import FoundationEssentials
internal import Glibc
internal import KeychainModel

/// A directory of another user that stands in the way to one of ours.
package struct ForeignDirectory {
    package let url: URL
    /// The directory that this user wants.
    private let target: URL
    private let owner: uid_t

    private init(_ url: URL, onTheWayTo target: URL, of owner: uid_t) {
        (self.url, self.target, self.owner) = (url, target, owner)
    }

    private init?(_ url: URL, onTheWayTo target: URL) {
        guard let owner = Self.owner(of: url), owner != geteuid() else { return nil }
        self.init(url, onTheWayTo: target, of: owner)
    }

    private static func owner(of url: URL) -> uid_t? {
        var status = stat()
        return stat(url.path, &status) == 0 ? status.st_uid : nil
    }

    /// The status of a directory that no link stands for.
    private static func status(of url: URL) -> stat? {
        var status = stat()
        return lstat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? status : nil
    }

    /// The directory itself, or the first one above it that keeps this user out; nil: there is none.
    package static func onTheWay(to directory: URL) -> ForeignDirectory? {
        let directory = directory.standardizedFileURL
        let closed = above(directory).reversed().first {
            ForeignDirectory($0, onTheWayTo: directory) != nil && !FilePath.permits($0.path, X_OK)
        }
        return ForeignDirectory(closed ?? directory, onTheWayTo: directory)
    }

    /// The directories above one, the nearest first.
    private static func above(_ directory: URL) -> [URL] {
        var above: [URL] = []
        var (last, parent) = (directory, directory.deletingLastPathComponent())
        // A relative path has parents without end.
        while parent.path.utf8.count < last.path.utf8.count {
            above.append(parent)
            (last, parent) = (parent, parent.deletingLastPathComponent())
        }
        return above
    }

    package var flaw: String { "belongs to user \(owner), and this program runs as \(geteuid())" }

    /// A command that gives the target to this user. A first `keychainctl` under sudo makes a store, perhaps with the
    /// directories above it, that its own person cannot open. nil: nothing says that it is meant for this user.
    package var wayBack: String? {
        var taken = [url]
        for parent in Self.above(url)
        where Self.status(of: taken[0])?.st_uid == 0 && Self.resident(of: taken[0], onTheWayTo: target) == nil {
            taken.insert(parent, at: 0)
        }
        let first = taken.removeFirst()
        guard !taken.isEmpty, let own = Self.status(of: first),
            own.st_uid == geteuid() || Self.resident(of: first, onTheWayTo: target) == geteuid(),
            // Not what is mounted there.
            taken.allSatisfy({ Self.status(of: $0)?.st_dev == own.st_dev }),
            !target.path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else { return nil }
        // The rest is perhaps closed. Only the target has nothing in it but what is ours.
        let parents = Self.above(target).filter { $0.path.count >= taken[0].path.count }
        return Self.gift(of: target, below: parents, to: geteuid())
    }

    private static func gift(of target: URL, below parents: [URL], to user: uid_t) -> String {
        let names = parents.reversed().map(quoted).joined(separator: " ")
        return (names.isEmpty ? "" : "sudo chown \(user) \(names); ") + "sudo chown -R \(user) \(quoted(target))"
    }

    /// In quotes for a shell, and without a backslash, of which a message shows two.
    private static func quoted(_ url: URL) -> String {
        "'" + url.path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'"'"'"#) + "'"
    }

    var error: KeychainError {
        KeychainError(
            .notAvailable,
            message: "the directory \(url.path) \(flaw). "
                + (wayBack.map { "If a command under sudo has made it, this gives it back: \($0)" }
                    ?? "Run it as that user, or name a keychain of your own"))
    }

    // MARK: Homes

    /// The home of a person in which root has the directory, or would make it.
    package static func home(around directory: URL) -> ForeignDirectory? {
        let directory = directory.standardizedFileURL
        guard geteuid() == 0,
            let nearest = ([directory] + above(directory)).first(where: { FilePath.exists($0.path) })
        else { return nil }
        let places = [nearest.resolvingSymlinksInPath()] + above(nearest.resolvingSymlinksInPath())
        return places.lazy.compactMap { place in
            resident(of: place, onTheWayTo: directory).map { ForeignDirectory(place, onTheWayTo: directory, of: $0) }
        }.first
    }

    /// The person whose home a directory is: its owner, or if that is root, a user whose first group may write to it.
    private static func resident(of directory: URL, onTheWayTo target: URL) -> uid_t? {
        guard let status = status(of: directory) else { return nil }
        let path = directory.path
        func isHome(_ home: String) -> Bool {
            URL(fileURLWithPath: home).resolvingSymlinksInPath().path == path
        }
        if status.st_uid != 0 {
            guard let home = AccountDatabase.home(of: status.st_uid) else { return nil }
            return isHome(home) ? status.st_uid : nil
        }
        guard status.st_mode & S_IWGRP != 0, status.st_gid != 0 else { return nil }
        // Not each of the homes is looked at: it may be on another machine.
        return AccountDatabase.accounts(withFirstGroup: status.st_gid).first { account in
            let isNamed = URL(fileURLWithPath: account.home).lastPathComponent == directory.lastPathComponent
            return (isNamed || target.path.hasPrefix(account.home + "/")) && isHome(account.home)
        }?.user
    }

    /// A sentence for root about a keychain of root's in the home of a person, and the command that gives it to them.
    package var closedToResident: (flaw: String, advice: String) {
        let parents = Self.above(target).filter { parent in
            parent.resolvingSymlinksInPath().path.hasPrefix(url.path + "/") && Self.status(of: parent)?.st_uid == 0
        }
        return (
            "\(target.path) is root's, in \(url.path), and does not open for \(nameOfResident)",
            "if a command under sudo has made it, this gives it back: \(Self.gift(of: target, below: parents, to: owner))"
        )
    }

    private var nameOfResident: String { AccountDatabase.name(of: owner) ?? "#\(owner)" }

    var refusalToMakeTarget: KeychainError {
        KeychainError(
            .notAvailable,
            message:
                "\(target.path) is not made: it would be root's, in \(url.path), the home of \(nameOfResident). Run this as that "
                + "user (sudo -u '\(nameOfResident)'), or with a keychain of root's own (sudo -H). If it is to be root's and there, "
                + "make that directory first; 'keychainctl add --owner root' makes that of a keychain")
    }
}
