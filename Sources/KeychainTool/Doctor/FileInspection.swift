internal import Foundation
internal import Glibc
internal import KeychainFiles
internal import KeychainModel
internal import SwiftKeychain

/// Looks at a store from outside: who owns its files, who else may touch them, where the device key is.
struct FileInspection {
    private(set) var findings: [StoreFinding] = []
    /// Whether it is certain from outside that nothing opens, and a finding says why.
    private(set) var explainsRefusal = false

    init(_ location: StoreLocation) {
        let store = location.storeDirectory
        if let finding = Self.foreignness(of: store) {
            // Each of its files would only repeat it.
            findings = [finding]
            explainsRefusal = true
            return
        }
        let names = [
            "keychain.db", "keychain.db-wal", "keychain.db-shm", "keybag", "lock-state", "lock-listeners", "attempts",
            "host",
        ]
        inspect(store, with: names.map { store.appendingPathComponent($0) })
        inspectSiblings(of: store)
        // Whoever starts the service looks after its credentials, and opening them says what is wrong.
        guard location.deviceKeyCredential == nil else { return }
        let deviceKey = location.deviceKeyDirectory.appendingPathComponent("device-key")
        inspect(location.deviceKeyDirectory, with: [deviceKey])
        inspectPlace(of: location.deviceKeyDirectory, store)
        if StorePresence(location) == .present { requirePresence(of: deviceKey) }
    }

    /// - Returns: nil if the store is this user's, or is not there.
    private static func foreignness(of store: URL) -> StoreFinding? {
        var status = stat()
        if stat(store.path, &status) != 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            return StoreFinding(
                .damage, "\(store.path) cannot be looked at: \(String(cString: strerror(errno)))",
                advice: "check the modes of the directories above it")
        }
        if status.st_uid == geteuid() { return nil }
        return StoreFinding(
            .damage, "\(store.path) belongs to user \(status.st_uid), and this program runs as \(geteuid())",
            advice: "run it as that user, or name a keychain of your own with --store")
    }

    private mutating func inspect(_ directory: URL, with files: [URL]) {
        guard inspect(directory, properMode: 0o700) else { return }
        for file in files { _ = inspect(file, properMode: 0o600) }
    }

    /// What is not there is not the matter of this function.
    ///
    /// - Returns: false if there is nothing to be seen, there or below.
    private mutating func inspect(_ url: URL, properMode: Int) -> Bool {
        let attributes: [FileAttributeKey: Any]
        do {
            attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        } catch let error as CocoaError where error.isAbsence {
            return false
        } catch {
            add(.damage, "\(url.path) cannot be looked at", advice: "check the modes of the directories above it")
            return false
        }
        // A number in both cases: Foundation documents these types.
        let owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? properMode
        if let owner, owner != geteuid() {
            add(
                .damage, "\(url.path) belongs to user \(owner), and this program runs as \(geteuid())",
                advice: "run it as that user, or let an administrator run: chown \(geteuid()) '\(url.path)'")
        }
        // The rights of others; a directory of ours is nobody else's business either.
        if mode & 0o077 != 0, attributes[.type] as? FileAttributeType != .typeSymbolicLink {
            add(
                .warning, "others may use \(url.path): its mode is \(String(mode, radix: 8))",
                advice: "run: chmod \(String(properMode, radix: 8)) '\(url.path)'")
        }
        return true
    }

    /// What repairs left beside the store.
    private mutating func inspectSiblings(of store: URL) {
        let parent = store.deletingLastPathComponent()
        // A parent that cannot be listed has nothing to tell.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names.sorted() {
            let path = parent.appendingPathComponent(name).path
            if name.hasPrefix(store.lastPathComponent + ".damaged-") {
                add(
                    .note, "a damaged store is kept in \(path)",
                    advice: "remove that directory when nothing in it is missed any more")
            } else if name.hasPrefix(store.lastPathComponent + ".repair-") {
                add(
                    .note, "a repair was cut short and left \(path)",
                    advice: "the store itself was not changed by it; remove that directory")
            }
        }
    }

    private mutating func inspectPlace(of deviceKey: URL, _ store: URL) {
        let outer = store.resolvingSymlinksInPath().standardizedFileURL.pathComponents
        let inner = deviceKey.resolvingSymlinksInPath().standardizedFileURL.pathComponents
        if inner.starts(with: outer) {
            add(
                .warning, "the device key is kept inside the store's directory, so a copy of the store opens anywhere",
                advice: "move the file device-key to a directory of its own, and name that with --device-key "
                    + "or XDG_STATE_HOME")
        }
    }

    private mutating func requirePresence(of deviceKey: URL) {
        var information = stat()
        explainsRefusal = lstat(deviceKey.path, &information) != 0 && (errno == ENOENT || errno == ENOTDIR)
        guard explainsRefusal else { return }
        add(
            .damage, "the device key \(deviceKey.path) is missing: nothing in the store can be read without it",
            advice: "put it back from a backup, or say with --device-key or XDG_STATE_HOME where it is")
    }

    private mutating func add(_ severity: StoreFinding.Severity, _ text: String, advice: String) {
        findings.append(StoreFinding(severity, text, advice: advice))
    }
}

extension CocoaError {
    fileprivate var isAbsence: Bool { code == .fileReadNoSuchFile || code == .fileNoSuchFile }
}
