package import Foundation
package import KeychainCrypto
package import KeychainModel
package import KeychainSystem

/// What an engine is told by its host.
package struct EngineConfiguration: Sendable {
    /// The directory that holds the store's files. Made, for the owner alone, if it is not there.
    package var storeDirectory: URL
    /// The directory of the device key: outside of the store's, so that a copy of the store opens nowhere else.
    package var deviceKeyDirectory: URL
    /// A credential that holds the device key; then no file of ours does.
    package var deviceKeyCredential: URL?
    /// Who opens the store: one whose files say otherwise is refused.
    package var host = StoreHost.embedded
    package var clock: any Clock
    package var randomness: any Randomness
    /// How files are changed; another one in tests alone.
    package var files: any FileSystem = SystemFiles()
    /// How long a call waits while another process writes.
    package var busyTimeout: TimeInterval = 5
    /// Whether unlocked keys are in the kernel's keyring of the user, if it has one, for all processes of the user. If
    /// not, every process unlocks for itself.
    package var usesKeyring = true
    /// scrypt's N for new passcodes, as its logarithm to base two. Smaller in tests alone, and then keybags may have less
    /// than ``PasscodeParameters/leastCost``.
    package var passcodeCost = Int(PasscodeParameters.defaultCost)
    /// Reads fingers or faces; nil: nobody does.
    package var biometry: (any BiometryReader)?
    /// How many rows a step of a renewal of keys brings under the new ones. Other writers wait for as long as one takes;
    /// with fewer rows the same pages of the index are written more often. Smaller in tests.
    package var rowsPerRekeyStep = 2_000
    /// How much space is kept for deleting when the disk is full: what a small item and the index of a large store need.
    /// Less in tests that make many stores.
    package var bytesReserved = 512 << 10
    /// How many free pages of the database a transaction gives back to the file system. Fewer in tests.
    package var pagesGivenBackAtOnce = 256
    /// No further write of this process joins a transaction that is older. Longer in tests.
    package var longestSharedTransaction = Duration.milliseconds(20)
    /// How much the items of one answer may have together; nil: as much as memory holds. A daemon has many callers, and
    /// each could ask for everything.
    package var mostBytesInAnswer: Int?
    /// The tables, and how older ones are brought up to them. Another one in tests.
    package var schema = StoreSchema.current
    /// false: writes are not forced to the disk. For filling a store in benchmarks, never for secrets.
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

    /// Without a reader of fingers or faces.
    package init(_ location: StoreLocation) {
        self.init(storeDirectory: location.storeDirectory, deviceKeyDirectory: location.deviceKeyDirectory)
        deviceKeyCredential = location.deviceKeyCredential
    }
}
