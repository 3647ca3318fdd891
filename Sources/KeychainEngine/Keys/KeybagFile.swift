package import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// The file `keybag` of a store.
package struct KeybagFile: Sendable {
    /// More than the size of a bag whose keys were renewed as often as possible.
    package static let mostBytes = 256 << 10

    package let url: URL
    private let file: AtomicFile
    private let leastCost: Int

    package init(_ configuration: EngineConfiguration) {
        url = configuration.storeDirectory.appendingPathComponent("keybag")
        file = AtomicFile(locked: url, configuration.files)
        leastCost = min(configuration.passcodeCost, Int(PasscodeParameters.leastCost))
    }

    package var exists: Bool { FilePath.exists(url.path) }

    /// - Throws: `.notAvailable` if the file is missing, another user's, not readable, or not an intact keybag of this
    ///   device key and, if a store is named, of that store.
    func load(deviceKey: KeyMaterial, expecting storeID: UUID? = nil) throws(KeychainError) -> Keybag {
        guard let bytes = try OwnFile.content(of: url, most: Self.mostBytes) else {
            throw KeychainError(file: "open", url, ENOENT)
        }
        return try Self.usable { () throws(KeychainError) in
            let bag = try Keybag(decoding: Data(bytes), deviceKey: deviceKey)
            guard storeID == nil || bag.storeID == storeID else { throw Self.foreign }
            // The check precedes any question for a passcode: with less work the passcode's fingerprint would reveal
            // it.
            guard bag.passcode?.takesWork(ofCost: leastCost) != false else { throw Self.cheap }
            return bag
        }
    }

    /// Turns the error of a bag that does not open into the callers' error: a keychain that cannot be used.
    static func usable<R>(_ body: () throws(KeychainError) -> R) throws(KeychainError) -> R {
        do throws(KeychainError) {
            return try body()
        } catch  where error.code == .decode {
            throw KeychainError(
                .notAvailable, message: "\(error.message). Nothing was changed; run 'keychainctl doctor'",
                cause: error, signal: .unusableKeybag)
        } catch  where error.signal == .newerFormat {
            throw KeychainError(
                error.code, message: "\(error.message). \(OwnProgram.isTooOld). Nothing was changed", cause: error)
        }
    }

    private static var foreign: KeychainError {
        KeychainError(.decode, message: "the file keybag is not usable: it belongs to another store")
    }

    private static var cheap: KeychainError {
        KeychainError(
            .decode,
            message:
                "the file keybag is not usable: a guess at its passcode would take less work than at any that this "
                + "program sets, so somebody has changed it. Put it back from a backup")
    }

    /// Removes the file that a killed writer left. Called under the store's lock, as every write.
    func removeLeftover() { file.removeLeftover() }

    func replace(with bag: Keybag, deviceKey: KeyMaterial) throws(KeychainError) {
        try write(bag, deviceKey) { bytes throws(KeychainError) in try file.replace(with: bytes) }
    }

    /// - Throws: `.notAvailable` if another process made a keybag meanwhile: that keybag must not be lost.
    func create(_ bag: Keybag, deviceKey: KeyMaterial) throws(KeychainError) {
        try write(bag, deviceKey) { bytes throws(KeychainError) in
            guard try file.create(with: bytes) else {
                throw KeychainError(.notAvailable, message: "\(url.path) appeared while a store was being made")
            }
        }
    }

    private func write(
        _ bag: Keybag, _ deviceKey: KeyMaterial, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try bag.encoded(deviceKey: deviceKey).withUnsafeBytes { bytes in
            Result { () throws(KeychainError) in try body(bytes) }
        }.get()
    }
}
