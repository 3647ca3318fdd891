package import Foundation

/// Random numbers that come again with the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// For the report of a failure.
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Begins anywhere, unless `KEYCHAIN_TEST_SEED` says where: with the seed of a report a run is repeated.
    package init() {
        let given = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SEED"].flatMap { UInt64($0) }
        self.init(seed: given ?? UInt64.random(in: .min ... .max))
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    package mutating func bytes(_ count: Int) -> Data {
        var data = Data(capacity: count + 8)
        while data.count < count {
            let word = next()
            withUnsafeBytes(of: word.littleEndian) { data.append(contentsOf: $0) }
        }
        return data.prefix(count)
    }
}
