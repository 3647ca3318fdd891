extension Int {
    /// No count of anything comes near it, and sums and hundredfolds of such counts are still numbers.
    private static let mostOfAnything = 1 << 48

    /// - Throws: `.parameter` for what cannot be a count.
    init(wireCount count: Int64) throws(KeychainError) {
        guard (0...Int64(Self.mostOfAnything)).contains(count) else {
            throw KeychainError(.parameter, message: "a count is \(count)")
        }
        self = Int(count)
    }
}

extension Double {
    /// A moment, or a number of seconds.
    ///
    /// - Throws: `.parameter` for what is none: nothing equals it, and nothing can be reckoned with it.
    init(wireTime seconds: Double) throws(KeychainError) {
        guard seconds.isFinite else { throw KeychainError(.parameter, message: "a date is no moment") }
        self = seconds
    }
}
