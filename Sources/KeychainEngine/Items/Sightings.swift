internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

/// A moment at which a writer read the clocks while an item had expired.
struct Sighting: Hashable {
    static let byteCount = 32
    var boot: UUID
    /// Nanoseconds since the system started.
    var sinceBoot: UInt64
    var date: ExpiryDate
}

/// The clock readings that the store remembers, the earliest first (docs/store-format.md, "Sightings").
///
/// One wrong clock reading removes nothing: a date of expiry has passed for good when a sighting of it has stood for an
/// hour, or outlived a restart.
struct Sightings: Equatable {
    /// How long a sighting stands before anything is removed by it, in nanoseconds of the boot clock.
    static let age: UInt64 = 3_600_000_000_000
    /// The most sightings. Above it, the sighting is dropped that leaves the least gap, two minutes at most. The first
    /// sighting always comes of age.
    static let most = 64
    /// The most seconds by which two clocks that go alike may differ.
    private static let tolerance = 60.0

    private(set) var all: [Sighting] = []

    /// Forgets the sightings that the clocks contradict: the time of day is before a sighting's, or was set since.
    mutating func forget(contradictedBy reading: ClockReading) {
        let now = ExpiryDate(clamping: reading.now)
        all.removeAll { sighting in
            if now < sighting.date { return true }
            guard sighting.boot == reading.bootID else { return false }
            guard sighting.sinceBoot <= reading.sinceBoot else { return true }
            let sinceBoot = Double(reading.sinceBoot - sighting.sinceBoot) / 1e9
            let difference = Double(now.milliseconds - sighting.date.milliseconds) / 1_000 - sinceBoot
            return abs(difference) > Self.tolerance + sinceBoot / 100
        }
    }

    /// The latest date that has passed for good. The caller has forgotten the sightings that the reading contradicts.
    func confirmed(by reading: ClockReading) -> ExpiryDate? {
        let now = ExpiryDate(clamping: reading.now)
        // Without a name of this start the sightings of other starts cannot be told apart.
        guard let boot = reading.bootID else { return nil }
        return all.last { sighting in
            sighting.boot == boot
                ? reading.sinceBoot - sighting.sinceBoot >= Self.age
                : reading.isSynchronized && now > sighting.date
        }?.date
    }

    mutating func note(_ reading: ClockReading) {
        guard let boot = reading.bootID else { return }
        if let confirmed = confirmed(by: reading) { all.removeAll { $0.date < confirmed } }
        all.append(Sighting(boot: boot, sinceBoot: reading.sinceBoot, date: ExpiryDate(clamping: reading.now)))
        guard all.count > Self.most else { return }
        func gap(without index: Int) -> UInt64 { all[index + 1].date.milliseconds - all[index - 1].date.milliseconds }
        all.remove(at: (1..<all.count - 1).min { gap(without: $0) < gap(without: $1) }!)  // there are many
    }

    /// The milliseconds until the next sighting has stood for long enough; nil if none is waiting.
    func wait(at reading: ClockReading) -> UInt64? {
        let waiting = all.first { $0.boot == reading.bootID && reading.sinceBoot - $0.sinceBoot < Self.age }
        return waiting.map { (Self.age - (reading.sinceBoot - $0.sinceBoot)) / 1_000_000 + 1 }
    }
}

// MARK: - Stored bytes

extension Sightings {
    /// Without sightings if the bytes are not authentic under a key of the store.
    init(stored bytes: UnsafeRawBufferPointer, _ indexers: [Indexer]) {
        let count = (bytes.count - IndexToken.byteCount) / Sighting.byteCount
        guard bytes.count == count * Sighting.byteCount + IndexToken.byteCount, 1...Self.most ~= count else { return }
        let body = UnsafeRawBufferPointer(rebasing: bytes.prefix(count * Sighting.byteCount))
        let token = IndexToken(bytes: UnsafeRawBufferPointer(rebasing: bytes.suffix(IndexToken.byteCount)))
        guard indexers.contains(where: { $0.token(ofSightings: body) == token }) else { return }
        all = stride(from: 0, to: body.count, by: Sighting.byteCount).compactMap { start in
            let word = { UInt64(bigEndian: body.loadUnaligned(fromByteOffset: start + $0, as: UInt64.self)) }
            guard let boot = UUID(bytes: UnsafeRawBufferPointer(rebasing: body[start..<start + 16])),
                let date = ExpiryDate(milliseconds: word(24))
            else { return nil }
            return Sighting(boot: boot, sinceBoot: word(16), date: date)
        }
    }

    func stored(_ indexer: Indexer) -> Data {
        var bytes = Data()
        for sighting in all {
            bytes += sighting.boot.bytes
            for word in [sighting.sinceBoot, sighting.date.milliseconds] {
                withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
            }
        }
        let token = bytes.withUnsafeBytes(indexer.token(ofSightings:))
        token.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return bytes
    }
}

extension StoreConnection {
    func sightings(_ indexers: [Indexer]) throws -> Sightings {
        let statement = try statement(.sightings)
        defer { statement.reset() }
        guard try statement.step(), let bytes = statement.blob(0) else { return Sightings() }
        return Sightings(stored: bytes, indexers)
    }

    func setSightings(_ sightings: Sightings, _ indexer: Indexer) throws {
        guard !sightings.all.isEmpty else { return try statement(.forgetSightings).run() }
        let statement = try statement(.setSightings)
        try statement.bind(sightings.stored(indexer), at: 1)
        try statement.run()
    }
}
