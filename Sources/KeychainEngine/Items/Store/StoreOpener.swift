internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import KeychainSystem

/// Opens a store, or makes one if there is none.
///
/// A new store is complete only when its keybag appears: the database comes first, the keybag last. So a keybag without
/// its database, or a database without its keybag, is never taken for a new store.
package struct StoreOpener {
    private let configuration: EngineConfiguration
    private let database: DatabaseFile
    private let keybagFile: KeybagFile
    private let deviceKeyProvider: any DeviceKeyProvider

    package init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        database = DatabaseFile(configuration)
        keybagFile = KeybagFile(configuration)
        deviceKeyProvider = configuration.deviceKeyProvider
    }

    /// - Parameter signal: Given after each change of the lock, if this process has the store alone.
    /// - Returns: the store, its keys, and the lock that a daemon holds for as long as it has the store.
    package func open(
        _ signal: ChangeSignal = ChangeSignal()
    ) throws(KeychainError) -> (store: ItemStore, keys: KeyStore, daemonLock: DaemonLock?) {
        do {
            // Refused before the store is made in part.
            if !keybagFile.exists, !configuration.mayLieInOthersHomes, configuration.deviceKeyCredential == nil {
                try PrivateDirectory.requireOwnHome(configuration.deviceKeyDirectory)
            }
            try PrivateDirectory.create(
                configuration.storeDirectory, configuration.files, inOthersHomes: configuration.mayLieInOthersHomes)
            let daemonLock = try takePossession()
            let mark = try OpenStores.mark(configuration.storeDirectory) { () throws(KeychainError) in
                try LogInspection(database.url).requireIntact()
            }
            if !keybagFile.exists { try configuration.withStoreLock { try makeStore() } }
            let keys = try KeyStore(configuration, keybagFile: keybagFile, signal: signal)
            let reader = try openReader(of: keys)
            return (try openStore(keys, reader, mark), keys, daemonLock)
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    // MARK: The host of the store

    /// - Returns: nil for a program that opens the store for itself.
    private func takePossession() throws -> DaemonLock? {
        guard configuration.host.isDaemon else {
            try requireOurs()
            return nil
        }
        let lock = try DaemonLock(configuration)
        let mark = HostMark(configuration)
        try configuration.withStoreLock {
            try lock.requireInPlace()
            let present = try mark.read()
            if present == configuration.host { return }
            if present.isDaemon { throw KeychainError.belongs(configuration.storeDirectory, to: present) }
            if keybagFile.exists { throw KeychainError.belongsToPrograms(configuration.storeDirectory) }
            // The mark is written before the store is made, so that no other host takes the new store.
            try mark.write(configuration.host)
        }
        // If the handover was cut short, programs may not know of it yet.
        try StoreHandover(configuration).tellPrograms()
        return lock
    }

    private func requireOurs() throws(KeychainError) {
        let present = try HostMark(configuration).read()
        guard present == configuration.host else { throw .belongs(configuration.storeDirectory, to: present) }
    }

    // MARK: Making a store

    private func makeStore() throws {
        // Another process may have made the store while this one waited, or handed its place to a daemon.
        if keybagFile.exists { return }
        try requireOurs()
        try PrivateDirectory.makeDurable(configuration.storeDirectory, configuration.files)
        let storeID = try makeDatabase()
        let deviceKey = try deviceKeyProvider.loadOrCreate(randomness: configuration.randomness)
        let keybag = try Keybag.make(
            storeID: storeID, deviceKey: deviceKey, randomness: configuration.randomness)
        try keybagFile.create(keybag, deviceKey: deviceKey)
    }

    /// The id of a database without a keybag: a new database, or one whose making was cut short.
    private func makeDatabase() throws -> UUID {
        let probe = try database.probe()
        switch probe {
        case .absent: try database.make()
        case .usable: try requireNothing()
        case .older(let version): if version > 0 { try requireNothing() }
        case .newer(let version): throw refused(.newer(version))
        case .foreign, .altered: throw refused(probe)
        }
        try database.migrate(to: configuration.schema.base)
        try requireNothing()
        return try database.name(try UUID(from: configuration.randomness), generation: 1)
    }

    /// No new keybag is made for a database with content that only the missing keybag opens.
    private func requireNothing() throws {
        let reader = try database.openReader()
        let items = try reader.number("SELECT count(*) FROM item") ?? 0
        let hasFiles = try reader.number("SELECT count(*) FROM store WHERE key = 'files'") ?? 0 > 0
        guard items > 0 || hasFiles else { return }
        let what = items > 0 ? "has \(items) items" : "has the keys of protected files"
        throw KeychainError(
            .notAvailable,
            message:
                "the keychain in \(configuration.storeDirectory.path) \(what), but its keybag is missing: without it they "
                + "cannot be read. Put the file keybag back from a backup. Nothing was changed")
    }

    // MARK: Opening the database

    private func openStore(_ keys: KeyStore, _ reader: SQLiteConnection, _ mark: OpenStores.Mark) throws -> ItemStore {
        let readers = ReaderPool(reader) { [database] () throws(KeychainError) in try database.openReader() }
        let queue = database.makeWriteQueue()
        return ItemStore(
            url: database.url, storeID: keys.storeID, configuration: configuration, readers: readers,
            writeQueue: queue, reserve: database.reserve, openMark: mark
        ) {
            // The first reader may be long ago: another store, or nothing, may be in the file's place now.
            _ = try openReader(expecting: keys.storeID)
            return try database.openWriter(queue)
        }
    }

    /// Opens a first reader, after the tables were brought up to the version that a new store has.
    private func openReader(of keys: KeyStore) throws -> SQLiteConnection {
        if let reader = try openReaderUnlessOlder(keys.storeID) { return reader }
        try raise(keys, to: configuration.schema.base)
        return try openReader(expecting: keys.storeID)
    }

    /// Brings the tables up to a version that something needs, and announces it. A program that does not know that
    /// version notices at its next call after that, and refuses to go on.
    package func raise(_ keys: KeyStore, to version: Int) throws {
        try configuration.withStoreLock {
            guard let (reader, probe) = try database.openProbedReader() else { throw refused(.absent) }
            guard probe.isKnown else { throw refused(probe) }
            guard try storedID(reader) == keys.storeID else { throw foreignKeybag }
            try database.migrate(to: version)
            // Even if another process has made the steps: it was perhaps killed before it could announce them.
            try keys.announce()
        }
    }

    private func openReader(expecting storeID: UUID) throws -> SQLiteConnection {
        guard let reader = try openReaderUnlessOlder(storeID) else { throw refused(.older(0)) }
        return reader
    }

    /// - Returns: nil for the tables of an earlier version.
    private func openReaderUnlessOlder(_ storeID: UUID) throws -> SQLiteConnection? {
        guard let (reader, probe) = try database.openProbedReader() else { throw refused(.absent) }
        if case .older = probe { return nil }
        guard probe == .usable else { throw refused(probe) }
        guard try storedID(reader) == storeID else { throw foreignKeybag }
        return reader
    }

    private func storedID(_ reader: SQLiteConnection) throws -> UUID? {
        guard try reader.number("SELECT count(*) FROM sqlite_master WHERE name = 'store'") == 1 else { return nil }
        return try reader.storeID()
    }

    // MARK: Refusing

    private var foreignKeybag: KeychainError {
        KeychainError(
            .notAvailable,
            message: "keychain.db and keybag in \(configuration.storeDirectory.path) belong to different stores. "
                + "Nothing was changed; put back the two files of one backup")
    }

    private func refused(_ probe: StoreSchema.Probe) -> KeychainError {
        let reason =
            switch probe {
            case .absent: "is missing, though its keybag is there. Put it back from a backup"
            case .newer(let version):
                "has version \(version), and this program knows versions up to \(configuration.schema.version). "
                    + OwnProgram.isTooOld
            case .altered(let name):
                "was changed by another program: \(name) is not as this version makes it. 'keychainctl doctor --repair' "
                    + "makes a new store of what can be read"
            case .usable, .older, .foreign: "is not a keychain database"
            }
        var error = KeychainError(.notAvailable, message: "\(database.url.path) \(reason). Nothing was changed")
        switch probe {
        case .foreign, .altered: error.signal = .damage
        case .newer: error.signal = .newerFormat
        case .absent, .older, .usable: break
        }
        return error
    }
}
