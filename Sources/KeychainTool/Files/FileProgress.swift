internal import KeychainModel

/// Shows the progress of the work on many files: files and bytes, the speed, and the time that is left.
final class FileProgress {
    private static let interval = Duration.milliseconds(50)
    /// Before this time a rate says little.
    private static let firstRate = Duration.seconds(1)

    private let line: ProgressLine
    private let total: FileTotal
    private let start = ContinuousClock.now
    private var doneFiles = 0
    private var doneBytes: UInt64 = 0
    private var lastShown: ContinuousClock.Instant?

    init(_ title: String, _ total: FileTotal) {
        line = ProgressLine(title)
        self.total = total
    }

    /// - Parameter completed: The bytes of the present file that are done.
    func show(_ completed: UInt64) { draw(doneBytes + completed) }

    /// Counts the present file as done, even after a failure.
    func endFile(_ size: UInt64) {
        doneFiles += 1
        doneBytes += size
        draw(doneBytes)
    }

    func end() { line.end() }

    private func draw(_ bytes: UInt64) {
        guard Console.errorIsTerminal else { return }
        let now = ContinuousClock.now
        if let lastShown, now - lastShown < Self.interval, doneFiles < total.fileCount { return }
        lastShown = now
        // Files may have grown since they were counted.
        let (fileCount, byteCount) = (max(doneFiles, total.fileCount), max(bytes, total.byteCount))
        let elapsed = now - start
        line.show(
            [(" files", doneFiles, fileCount), (" KiB", Int(bytes >> 10), Int(byteCount >> 10))],
            elapsed < Self.firstRate
                ? "" : Self.speed(elapsed / .seconds(1), (doneFiles, fileCount), (Double(bytes), Double(byteCount))))
    }

    private static func speed(
        _ seconds: Double, _ files: (done: Int, total: Int), _ bytes: (done: Double, total: Double)
    ) -> String {
        let rates =
            "\(Int(Double(files.done) / seconds)) files/s, \(ByteCount.text(Int64(bytes.done / seconds)))/s"
        // Half by files and half by bytes: small files take their time too.
        let ofFiles = files.total > 0 ? Double(files.done) / Double(files.total) : 1
        let share = (ofFiles + (bytes.total > 0 ? bytes.done / bytes.total : ofFiles)) / 2
        guard share > 0, share < 1 else { return rates }
        return "\(rates), \(text(seconds: Int(seconds / share * (1 - share)) + 1)) left"
    }

    private static func text(seconds: Int) -> String {
        switch seconds {
        case ..<100: "\(seconds) s"
        case ..<6000: "\((seconds + 59) / 60) min"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}

/// The files that a run is about, and their bytes.
struct FileTotal {
    private(set) var fileCount = 0
    private(set) var byteCount: UInt64 = 0

    init() {}

    init(of walk: TreeWalk) {
        walk.visit { finding in
            if case .file(let file) = finding { add(file) }
        }
    }

    mutating func add(_ file: TreeWalk.FoundFile) {
        fileCount += 1
        byteCount += file.size
    }
}
