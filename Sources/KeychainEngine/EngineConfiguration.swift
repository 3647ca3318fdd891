package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel
package import KeychainSystem

/// The settings that an engine gets from its host.
package struct EngineConfiguration: Sendable {
    /// The directory of the store's files. If it is missing, the engine makes it, for the owner alone.
    package var storeDirectory: URL
    /// The directory of the device key. It is outside of the store, so that a copy of the store opens nowhere else.
    package var deviceKeyDirectory: URL
    /// A credential that holds the device key in place of a file.
    package var deviceKeyCredential: URL?
    /// The host that opens the store. A store whose files name another one is refused.
    package var host = StoreHost.embedded
    /// Whether root may make missing directories in the home of another account, whose user could not open the store.
    package var mayLieInOthersHomes = false
    package var clock: any Clock
    package var randomness: any Randomness
    /// The file system. Only tests use another one.
    package var files: any FileSystem = SystemFiles()
    /// How long a call waits while another process writes.
    package var busyTimeout: TimeInterval = 5
    /// Whether the user's keyring in the kernel, if there is one, holds the unlocked keys for all processes of the
    /// user. Without it every process unlocks for itself.
    package var usesKeyring = true
    /// scrypt's N for new passcodes, as its logarithm to base two. Only tests use a smaller one; keybags may then have
    /// less than ``PasscodeParameters/leastCost``.
    package var passcodeCost = Int(PasscodeParameters.defaultCost)
    /// The reader of fingers or faces; nil if there is none.
    package var biometry: (any BiometryReader)?
    /// How many rows a step of a renewal brings under the new keys. Other writers wait for a step; with fewer rows the
    /// same pages of the index are written more often. Smaller in tests.
    package var rowsPerRekeyStep = 2_000
    /// The space that is kept for deleting when the disk is full: enough for a small item and the index of a large
    /// store. Less in tests that make many stores.
    package var bytesReserved = 512 << 10
    /// How many free pages of the database a transaction gives back to the file system. Fewer in tests.
    package var pagesGivenBackAtOnce = 256
    /// The age from which a transaction takes no further write of this process. Longer in tests.
    package var longestSharedTransaction = Duration.milliseconds(20)
    /// The most bytes of all items of one answer; nil: as many as memory holds. A daemon has many callers, and each
    /// could ask for everything.
    package var mostBytesInAnswer: Int?
    /// The most bytes of the database; nil: 1 GiB with the system's daemon, and elsewhere as many as the disk holds.
    package var mostBytesOfStore: Int?
    /// The tables, and the steps that bring older tables up to date. Others in tests.
    package var schema = StoreSchema.current
    /// Whether writes are forced to the disk. Benchmarks fill stores without; stores with secrets need it.
    package var isDurable = true

    package init(
        storeDirectory: URL, deviceKeyDirectory: URL, clock: any Clock = SystemClock(),
        randomness: any Randomness = SystemRandomness()
    ) {
        self.storeDirectory = storeDirectory
        self.deviceKeyDirectory = deviceKeyDirectory
        self.clock = clock
        self.randomness = randomness
    }

    /// The configuration has no reader of fingers or faces.
    package init(_ location: StoreLocation) {
        self.init(storeDirectory: location.storeDirectory, deviceKeyDirectory: location.deviceKeyDirectory)
        deviceKeyCredential = location.deviceKeyCredential
        mayLieInOthersHomes = location.mayLieInOthersHomes
    }
}

extension EngineConfiguration {
    var storeLock: URL { storeDirectory.appendingPathComponent("store.lock") }

    /// Runs `body` while no other process makes the store or changes its files.
    func withStoreLock<R>(_ body: () throws -> R) throws -> R {
        try LockFile.withLock(storeLock, files, body)
    }
}
