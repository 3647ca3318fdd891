internal import CKeychainLinux
internal import Foundation
internal import Glibc
internal import KeychainCrypto
package import KeychainModel
internal import Logging

/// Saves what opens of a damaged store into a new one, which takes its place; the damaged one is kept beside it.
///
/// It goes by the pages of the database and not by what leads to them: a row that is whole is found wherever it lies,
/// and its own keys tell that it is authentic. Keys and persistent references stay as they are.
package struct StoreRepair {
    private let configuration: EngineConfiguration
    /// Rows are written in transactions of about so many bytes.
    private static let bytesPerTransaction = 4 << 20

    package init(_ configuration: EngineConfiguration) {
        var configuration = configuration
        // A link stays a link: what it leads to is what is exchanged.
        configuration.storeDirectory = configuration.storeDirectory.resolvingSymlinksInPath()
        self.configuration = configuration
    }

    /// - Parameters:
    ///   - passcode: Asked for once, if the store is locked. It is tried like any other.
    ///   - progress: Told how many pages were looked at, and how many there are.
    /// - Throws: `.notAvailable` if the store is in use, or keybag or device key do not open, since nothing does then;
    ///   what ``KeychainModel/Request/unlock(_:)`` throws for a passcode. After any error the store is as it was.
    package func run(
        passcode: () throws -> SecretBytes, progress: (Int, Int) -> Void
    ) throws(KeychainError) -> RepairReport {
        defer { KeyTraces.erase() }
        do {
            try PrivateDirectory.check(configuration.storeDirectory)
            let keys = try openKeys()
            if try keys.begin().set(of: .whenUnlocked) == nil { try keys.unlock(try passcode()) }
            return try keys.withStoreLock {
                try requireUnused()
                return try exchange { directory in try save(into: directory, keys, progress) }
            }
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    private func openKeys() throws -> KeyStore {
        let keybag = KeybagFile(url: file("keybag"), configuration.files)
        guard keybag.exists else {
            throw KeychainError(
                .notAvailable,
                message: "\(keybag.url.path) is missing: without it nothing can be saved. Put it back from a backup")
        }
        return try KeyStore(
            configuration, keybagFile: keybag, deviceKey: try configuration.deviceKeyProvider.load())
    }

    private func file(_ name: String) -> URL { configuration.storeDirectory.appendingPathComponent(name) }

    private func requireUnused() throws {
        guard !OpenStores.contains(configuration.storeDirectory) else {
            throw KeychainError(.notAvailable, message: "this program has the keychain open itself")
        }
        if let index = try FileBytes(file("keychain.db-shm")), LoggedTransactions.isInUse(index) {
            throw KeychainError(
                .notAvailable,
                message: "another program has \(file("keychain.db").path) open; stop it first ('fuser -v' names it). "
                    + "Nothing was changed")
        }
    }

    // MARK: Saving

    private func save(
        into directory: URL, _ keys: KeyStore, _ progress: (Int, Int) -> Void
    ) throws -> (saved: Int, unreadable: Int) {
        try copyFiles(to: directory)
        var configuration = configuration
        configuration.storeDirectory = directory
        let database = DatabaseFile(configuration)
        try database.make()
        _ = try database.name(keys.storeID, generation: try keys.begin().generation)
        let store = try StoreOpener(configuration).open().store
        let items = ItemOperations(
            store: store, keys: try keys.begin(), configuration: configuration, logger: Logger(label: "keychain.repair")
        )
        var rescue = RowRescue(items)
        try eachBatch(progress) { rows in try rescue.save(rows) }
        try requireSound(items)
        try store.emptyLog()
        return (rescue.savedCount, rescue.unreadableCount)
    }

    /// What belongs to the store besides the database: its keys, and the count of wrong passcodes.
    private func copyFiles(to directory: URL) throws {
        for name in ["keybag", "attempts", "lock-state"] {
            guard let source = try FileBytes(file(name)) else { continue }
            guard let bytes = source.bytes(at: 0, count: source.count) else {
                throw AtomicFile.fileError("read", file(name), errno)
            }
            let copy = AtomicFile(locked: directory.appendingPathComponent(name), configuration.files)
            try bytes.withUnsafeBytes { bytes in _ = try copy.create(with: bytes) }
        }
    }

    private func eachBatch(_ progress: (Int, Int) -> Void, _ body: ([SalvagedRow]) throws -> Void) throws {
        let pages = try LoosePages(file("keychain.db"))
        var rows: [SalvagedRow] = []
        var size = 0
        for number in stride(from: 1, through: pages.count, by: 1) {
            LoosePage(number, of: pages)?.forEachRecord(columns: SalvagedRow.columnCount) { record in
                guard let row = SalvagedRow(record) else { return }
                rows.append(row)
                size += row.metadata.count + (row.secret?.count ?? 0)
            }
            if size >= Self.bytesPerTransaction || rows.count >= 1_000 || number == pages.count {
                try body(rows)
                rows.removeAll()
                size = 0
                progress(number, pages.count)
            }
        }
    }

    /// The new store must be better than the old one.
    private func requireSound(_ items: ItemOperations) throws {
        let damage = try items.check().filter { $0.severity == .damage }
        guard damage.isEmpty else {
            throw KeychainError(
                .internalFailure, message: "the repaired keychain is not sound (\(damage[0].text)); nothing was changed"
            )
        }
    }

    // MARK: Putting the new store in place

    /// Lets `fill` fill a new directory and puts it in the store's place in one step. If anything fails, the directory is
    /// removed and the store is as it was.
    private func exchange(_ fill: (URL) throws -> (saved: Int, unreadable: Int)) throws -> RepairReport {
        let store = configuration.storeDirectory
        let fresh = sibling("repair-\(UUID().uuidString.prefix(8).lowercased())")
        try PrivateDirectory.create(fresh, configuration.files)
        let counts: (saved: Int, unreadable: Int)
        do {
            counts = try fill(fresh)
            let failure = ckeychain_exchange(store.path, fresh.path)
            guard failure == 0 else { throw Self.exchangeError(store, failure) }
        } catch {
            // The error that counts is the one at hand; what is left behind says by its name what it is.
            try? FileManager.default.removeItem(at: fresh)
            throw error
        }
        let old = try keep(fresh)
        try PrivateDirectory.makeDurable(store, configuration.files)
        return RepairReport(savedCount: counts.saved, unreadableCount: counts.unreadable, oldStorePath: old.path)
    }

    /// Gives the old store a name of its own.
    private func keep(_ old: URL) throws(KeychainError) -> URL {
        let day = Date(timeIntervalSinceReferenceDate: configuration.clock.now).formatted(
            .iso8601.year().month().day())
        for attempt in 1...1_000 {
            let name = sibling("damaged-\(day)" + (attempt == 1 ? "" : "-\(attempt)"))
            guard access(name.path, F_OK) != 0 else { continue }
            guard rename(old.path, name.path) == 0 else { throw AtomicFile.fileError("rename", old, errno) }
            return name
        }
        return old
    }

    private func sibling(_ suffix: String) -> URL {
        let store = configuration.storeDirectory
        return store.deletingLastPathComponent().appendingPathComponent("\(store.lastPathComponent).\(suffix)")
    }

    private static func exchangeError(_ store: URL, _ failure: Int32) -> KeychainError {
        switch failure {
        case EINVAL, ENOSYS:
            KeychainError(
                .notAvailable,
                message: "the file system of \(store.path) cannot exchange two directories in one step; copy the "
                    + "directory to another one and repair it there. Nothing was changed")
        case EBUSY:
            KeychainError(
                .notAvailable,
                message: "\(store.path) is a mount point and cannot be exchanged; copy the directory to another place "
                    + "and repair it there. Nothing was changed")
        default: AtomicFile.fileError("exchange", store, failure)
        }
    }
}
