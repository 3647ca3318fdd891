internal import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// Looks at a store from outside: the owners and modes of its files, and the place of the device key.
package struct FileInspection {
    package private(set) var findings: [StoreFinding] = []
    /// Whether a finding says why the store cannot open.
    package private(set) var explainsRefusal = false
    /// Whether the keychain has seen a later time on the clock than the present one.
    package private(set) var hasSeenLater = false

    /// - Parameter isEmbedded: Whether programs open the store themselves, so that its lock is in its files and the
    ///   kernel's keyring.
    package init(_ location: StoreLocation, isEmbedded: Bool) {
        let store = location.storeDirectory
        if let finding = Self.foreignness(of: store) {
            // A finding for each of the files would only repeat this one.
            findings = [finding]
            explainsRefusal = true
            return
        }
        let names = [
            "keychain.db", "keychain.db-wal", "keychain.db-shm", "keybag", "lock-state", "lock-listeners", "attempts",
            "host",
        ]
        inspect(store, with: names.map { store.appendingPathComponent($0) })
        inspectHome(around: store)
        inspectUse(of: store)
        if isEmbedded {
            inspectTurn(at: store)
            inspectTime(location)
            inspectKeyring(location)
        }
        inspectSiblings(of: store)
        // The service manager looks after the credentials. An attempt to open them tells what is wrong.
        guard location.deviceKeyCredential == nil else { return }
        let deviceKey = location.deviceKeyDirectory.appendingPathComponent("device-key")
        if !FilePath.permits(deviceKey.path, R_OK), let finding = Self.foreignness(of: location.deviceKeyDirectory) {
            findings.append(finding)
            explainsRefusal = true
            return
        }
        inspect(location.deviceKeyDirectory, with: [deviceKey])
        inspectHome(around: location.deviceKeyDirectory)
        inspectPlace(of: location.deviceKeyDirectory, store)
        if StorePresence(location) == .present { requirePresence(of: deviceKey) }
    }

    /// - Parameter store: The directory of the store, or that of the device key.
    /// - Returns: nil if it is this user's, or is missing.
    private static func foreignness(of store: URL) -> StoreFinding? {
        if let foreign = ForeignDirectory.onTheWay(to: store) {
            return StoreFinding(
                .damage, "\(foreign.url.path) \(foreign.flaw)",
                advice: foreign.wayBack.map { "if a command under sudo has made it, this gives it back: \($0)" }
                    ?? "run it as that user, or name a keychain of your own with --store")
        }
        var status = stat()
        if stat(store.path, &status) != 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            return StoreFinding(
                .damage, "\(store.path) cannot be looked at: \(String(cString: strerror(errno)))",
                advice: "check the modes of the directories above it")
        }
        return nil
    }

    private mutating func inspectHome(around directory: URL) {
        var status = stat()
        guard stat(directory.path, &status) == 0, status.st_uid == geteuid(),
            let home = ForeignDirectory.home(around: directory)
        else { return }
        let (flaw, advice) = home.closedToResident
        findings.add(.note, flaw, advice: advice)
    }

    private mutating func inspect(_ directory: URL, with files: [URL]) {
        guard inspect(directory, properMode: 0o700) else { return }
        for file in files { _ = inspect(file, properMode: 0o600) }
    }

    /// - Returns: false if the file or directory is missing, or cannot be looked at.
    private mutating func inspect(_ url: URL, properMode: Int) -> Bool {
        var status = stat()
        guard lstat(url.path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return false }
            findings.add(
                .damage, "\(url.path) cannot be looked at", advice: "check the modes of the directories above it")
            return false
        }
        let (owner, mode) = (status.st_uid, status.st_mode & 0o7777)
        if owner != geteuid() {
            findings.add(
                .damage, "\(url.path) belongs to user \(owner), and this program runs as \(geteuid())",
                advice: "run it as that user, or let an administrator run: chown \(geteuid()) '\(url.path)'")
        }
        // Other users need no right to the files, and none to the directories.
        if mode & 0o077 != 0, status.st_mode & S_IFMT != S_IFLNK {
            findings.add(
                .warning, "others may use \(url.path): its mode is \(String(mode, radix: 8))",
                advice: "run: chmod \(String(properMode, radix: 8)) '\(url.path)'")
        }
        return true
    }

    /// The stores that repairs have left beside this one.
    private mutating func inspectSiblings(of store: URL) {
        let parent = store.deletingLastPathComponent()
        // A parent that cannot be listed has nothing to tell.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names.sorted() {
            let path = parent.appendingPathComponent(name).path
            if name.hasPrefix(store.lastPathComponent + ".damaged-") {
                findings.add(
                    .note, "a damaged store is kept in \(path)",
                    advice: "remove that directory when nothing in it is missed any more")
            } else if name.hasPrefix(store.lastPathComponent + ".repair-") {
                findings.add(
                    .note, "a repair was cut short and left \(path)",
                    advice: "the store itself was not changed by it; remove that directory")
            }
        }
    }

    // MARK: The needs of an unlock

    /// The names that programs open in a store, and whether they make a file that is missing.
    static let ownNames = [
        ("keychain.db", false), ("keychain.db-wal", false), ("keychain.db-shm", false), ("keybag", false),
        ("attempts", true), ("host", false), ("lock-state", true), ("lock-listeners", true), ("store.lock", true),
        ("write.lock", true), ("daemon.lock", true), ("reserve", true), ("keybag.new", true), ("attempts.new", true),
        ("host.new", true),
    ]

    /// Finds other things in the places of files, and places where an unlock could not write.
    private mutating func inspectUse(of store: URL) {
        for (name, isMadeAnew) in Self.ownNames {
            var status = stat()
            let path = store.appendingPathComponent(name).path
            guard lstat(path, &status) == 0, let flaw = OwnFile.flaw(ofType: status.st_mode) else { continue }
            findings.add(
                .damage, "\(path) \(flaw), where a file belongs",
                advice: "move it away; "
                    + (isMadeAnew ? "the next command makes the file anew" : "put the file back from a backup"))
        }
        var space = statvfs()
        guard FilePath.exists(store.path), statvfs(store.path, &space) == 0 else { return }
        if !FilePath.permits(store.path, W_OK | X_OK) {
            let reason = String(cString: strerror(errno))
            findings.add(
                .warning, "nothing can be written into \(store.path) (\(reason)), so a passcode cannot be tried",
                advice: "run: chmod 700 '\(store.path)', or make its file system writable")
        } else if space.f_bavail == 0 || space.f_files > 0 && space.f_favail == 0 {
            findings.add(
                .warning, "the disk of \(store.path) is full, so a passcode cannot be tried, and nothing stored",
                advice: "make room on it")
        }
    }

    private mutating func inspectTurn(at store: URL) {
        let file = store.appendingPathComponent("store.lock")
        guard let holder = LockFile.holder(of: file) else { return }
        findings.add(
            .note, "\(holder.description) holds \(file.path): an unlock waits for it, a minute at most",
            advice: "if it has stopped, end it")
    }

    private mutating func inspectTime(_ location: StoreLocation) {
        guard let seen = location.seenTime else { return }
        hasSeenLater = true
        let date = Date(timeIntervalSinceReferenceDate: seen.seconds).formatted(.iso8601)
        findings.add(
            .warning,
            "the keychain has seen the clock at \(date), and it is not so late: items that expire by then are hidden",
            advice: "nothing is lost. If that time was wrong, run 'keychainctl doctor --repair', which makes the "
                + "keychain forget it; if the clock is wrong now, set it")
    }

    private mutating func inspectKeyring(_ location: StoreLocation) {
        guard let stores = location.storesInFullKeyring else { return }
        let names = stores.isEmpty ? "other programs" : stores.joined(separator: ", ")
        findings.add(
            .warning,
            "the kernel takes no more keys of this user, so no further store can be unlocked: \(names) hold them",
            advice: "run 'keychainctl lock --store' with those that are not in use, or raise kernel.keys.maxkeys and "
                + "kernel.keys.maxbytes")
    }

    private mutating func inspectPlace(of deviceKey: URL, _ store: URL) {
        let outer = store.resolvingSymlinksInPath().standardizedFileURL.pathComponents
        let inner = deviceKey.resolvingSymlinksInPath().standardizedFileURL.pathComponents
        if inner.starts(with: outer) {
            findings.add(
                .warning, "the device key is kept inside the store's directory, so a copy of the store opens anywhere",
                advice: "move the file device-key to a directory of its own, and name that with --device-key "
                    + "or XDG_STATE_HOME")
        }
    }

    private mutating func requirePresence(of deviceKey: URL) {
        var information = stat()
        explainsRefusal = lstat(deviceKey.path, &information) != 0 && (errno == ENOENT || errno == ENOTDIR)
        guard explainsRefusal else { return }
        findings.add(
            .damage, "the device key \(deviceKey.path) is missing: nothing in the store can be read without it",
            advice: "put it back from a backup, or say with --device-key or XDG_STATE_HOME where it is")
    }
}
