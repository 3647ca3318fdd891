/// The generator of Benchmarks/Floor/floor.c (splitmix64) from the same start: both programs look the same items up.
struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// - Parameter stream: Other numbers for each.
    init(stream: Int = 0) { state ^= UInt64(stream) << 32 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
