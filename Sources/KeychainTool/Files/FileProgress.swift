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
        let speed = ProgressSpeed(
            elapsed: now - start, files: (doneFiles, fileCount), bytes: (bytes, byteCount))
        line.show(
            ("files", doneFiles, fileCount), ("KiB", Int(bytes >> 10), Int(byteCount >> 10)),
            now - start < Self.firstRate ? "" : speed.text)
    }
}

struct ProgressSpeed {
    let elapsed: Duration
    let files: (done: Int, total: Int)
    let bytes: (done: UInt64, total: UInt64)

    private var seconds: Double { elapsed / .seconds(1) }

    /// The share that is done, half by files and half by bytes: small files take their time too.
    private var share: Double {
        let ofFiles = files.total > 0 ? Double(files.done) / Double(files.total) : 1
        let ofBytes = bytes.total > 0 ? Double(bytes.done) / Double(bytes.total) : ofFiles
        return (ofFiles + ofBytes) / 2
    }

    var text: String {
        guard seconds > 0 else { return "" }
        let rates =
            "\(Int(Double(files.done) / seconds)) files/s, \(ByteCount.text(Int64(Double(bytes.done) / seconds)))/s"
        guard share > 0, share < 1 else { return rates }
        return "\(rates), \(Self.text(seconds: Int(seconds / share * (1 - share)) + 1)) left"
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
