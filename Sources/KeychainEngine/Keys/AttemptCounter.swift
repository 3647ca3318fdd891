internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// Counts wrong passcodes and makes callers wait after them (docs/key-hierarchy.md).
///
/// Every method is called under the store's lock, so that two processes cannot try at once. The counter restrains only
/// our own code: another program of the same user can remove the file.
struct AttemptCounter: Sendable {
    /// After this many failures the store is erased, if its owner chose that.
    static let mostFailures = 10
    /// The failures of a damaged file: the longest wait, and no erasure.
    private static let failuresAfterDamage: UInt16 = 9

    private let url: URL
    private let file: AtomicFile
    private let configuration: EngineConfiguration
    private let storeID: UUID
    private let deviceKey: KeyMaterial

    init(_ configuration: EngineConfiguration, storeID: UUID, deviceKey: KeyMaterial) {
        url = configuration.storeDirectory.appendingPathComponent("attempts")
        file = AtomicFile(locked: url, configuration.files)
        self.configuration = configuration
        self.storeID = storeID
        self.deviceKey = deviceKey
    }

    /// The wait after so many failures, in seconds: Apple's older published table.
    static func delay(after failures: UInt16) -> Double {
        switch failures {
        case ..<5: 0
        case 5: 60
        case 6: 5 * 60
        case 7, 8: 15 * 60
        default: 60 * 60
        }
    }

    /// Failures so far, and the seconds until the next attempt.
    func status() throws(KeychainError) -> (failures: Int, wait: Double) {
        let record = try load()
        return (Int(record.count), wait(record))
    }

    /// The result of an attempt.
    enum Outcome<R> {
        case right(R)
        /// - mayErase: Whether it was the tenth failure at least, and the count before it was not guessed.
        case wrong(KeychainError, mayErase: Bool)
    }

    /// Counts an attempt, and lets `body` try. An attempt that is cut short stays counted.
    ///
    /// - Parameter body: Turns the passcode into a key, and says whether it is the right one.
    /// - Throws: `.authenticationFailed` while the caller has to wait; then nothing was tried.
    func attempt<R>(
        _ body: () throws(KeychainError) -> (fingerprint: Data, result: R?)
    ) throws(KeychainError) -> Outcome<R> {
        let before = try loadOrMend()
        try requireNoWait(before)
        var record = before
        record.count += record.count < .max ? 1 : 0
        record.time = configuration.clock.sinceBoot
        record.bootID = configuration.clock.bootID
        try save(record)
        let outcome: (fingerprint: Data, result: R?)
        do throws(KeychainError) {
            outcome = try body()
        } catch {
            // The passcode was not tried: there was too little memory, for instance.
            try save(before)
            throw error
        }
        if let result = outcome.result {
            try reset()
            return .right(result)
        }
        if outcome.fingerprint == before.fingerprint {
            // A repeated mistake tells an attacker nothing.
            try save(before)
            return .wrong(wrong(before), mayErase: false)
        }
        record.fingerprint = outcome.fingerprint
        try save(record)
        return .wrong(wrong(record), mayErase: record.count >= Self.mostFailures && !record.isAfterDamage)
    }

    /// - Throws: `.authenticationFailed` while the caller has to wait.
    func requireNoWait() throws(KeychainError) { try requireNoWait(try loadOrMend()) }

    /// The failures from which wrong application passwords do not count: a quarter of an hour's wait. So the mistakes
    /// of a program alone never bring the store to the tenth failure, which may erase it.
    private static let mostNoted: UInt16 = 8

    /// Counts an application password that was tried and is wrong.
    func noteFailure(_ fingerprint: Data) throws(KeychainError) {
        var record = try loadOrMend()
        if record.fingerprint == fingerprint { return }
        record.count += record.count < Self.mostNoted ? 1 : 0
        record.time = configuration.clock.sinceBoot
        record.bootID = configuration.clock.bootID
        record.fingerprint = fingerprint
        try save(record)
    }

    /// The failures that cost no wait.
    private static let mostFree: UInt16 = 4

    /// Shortens the wait after the next failure to a minute. The earlier failures still count: a program that knows one
    /// item's password would have free guesses at every other's.
    func noteRightPassword() throws(KeychainError) {
        var record = try loadOrMend()
        guard record.count > Self.mostFree else { return }
        record.count = Self.mostFree
        try save(record)
    }

    func reset() throws(KeychainError) {
        try save(AttemptRecord(count: 0, time: 0, bootID: configuration.clock.bootID))
    }

    // MARK: Waiting

    private func requireNoWait(_ record: AttemptRecord) throws(KeychainError) {
        let wait = wait(record)
        guard wait > 0 else { return }
        throw KeychainError(
            .authenticationFailed,
            message: "after \(record.count) wrong answers none is looked at for another \(Self.text(wait))")
    }

    /// The boot clock counts, which setting the time does not move; after a restart of the system the whole wait begins
    /// anew.
    private func wait(_ record: AttemptRecord) -> Double {
        let clock = configuration.clock
        let start = record.bootID == clock.bootID ? record.time : 0
        let now = clock.sinceBoot
        let passed = now > start ? Double(now - start) / 1e9 : 0
        return max(0, Self.delay(after: record.count) - passed)
    }

    private func wrong(_ record: AttemptRecord) -> KeychainError {
        let wait = wait(record)
        let consequence = wait > 0 ? "; the next one is looked at in \(Self.text(wait))" : ""
        return KeychainError(.authenticationFailed, message: "the passcode is wrong\(consequence)")
    }

    private static func text(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded(.up))
        return whole < 120 ? "\(whole) seconds" : "\((whole + 59) / 60) minutes"
    }

    // MARK: The file

    /// The record. A damaged file counts as nine failures just now.
    private func load() throws(KeychainError) -> AttemptRecord {
        try stored()
            ?? AttemptRecord(
                count: Self.failuresAfterDamage, time: configuration.clock.sinceBoot,
                bootID: configuration.clock.bootID, isAfterDamage: true)
    }

    /// The record. A damaged file is replaced, so that the wait runs from the moment the damage was first noticed.
    private func loadOrMend() throws(KeychainError) -> AttemptRecord {
        if let record = try stored() { return record }
        let record = try load()
        try save(record)
        return record
    }

    /// nil if the file is damaged.
    private func stored() throws(KeychainError) -> AttemptRecord? {
        guard let bytes = try OwnFile.content(of: url, most: 256) else {
            return AttemptRecord(count: 0, time: 0, bootID: configuration.clock.bootID)
        }
        return AttemptRecord(decoding: Data(bytes), storeID: storeID, deviceKey: deviceKey)
    }

    /// Removes the file that a killed writer left.
    func removeLeftover() { file.removeLeftover() }

    private func save(_ record: AttemptRecord) throws(KeychainError) {
        try record.encoded(storeID: storeID, deviceKey: deviceKey).withUnsafeBytes { bytes in
            Result { () throws(KeychainError) in try file.replace(with: bytes) }
        }.get()
    }
}
