/// What many samples of one kind come down to.
struct Figure: Codable {
    var median: Double
    /// nil for what is not a distribution: a size, a count.
    var percentile99: Double?

    init(_ value: Double) { median = value }

    /// The median of a few samples, which have no 99th percentile.
    ///
    /// - Precondition: There is at least one sample.
    init(median samples: [Double]) { median = Figure(samples: samples).median }

    /// - Precondition: There is at least one sample.
    init(samples: [Double]) {
        let sorted = samples.sorted()
        median = sorted[sorted.count / 2]
        percentile99 = sorted[sorted.count * 99 / 100]
    }
}
