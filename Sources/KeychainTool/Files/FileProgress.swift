/// Shows how far the work on many files has come, in files and bytes.
final class FileProgress {
    private static let interval = Duration.milliseconds(50)

    private let line: ProgressLine
    private var fileCount = 0
    private var byteCount: UInt64 = 0
    private var doneFiles = 0
    private var doneBytes: UInt64 = 0
    private var lastShown: ContinuousClock.Instant?

    /// - Parameter walk: Goes over everything once, to know how much it is; only where somebody watches.
    init(_ title: String, over walk: TreeWalk) {
        line = ProgressLine(title)
        guard Console.errorIsTerminal else { return }
        walk.visit { finding in
            guard case .file(_, let size) = finding else { return }
            fileCount += 1
            byteCount += size
        }
    }

    /// - Parameter completed: of the content of the present file.
    func show(_ completed: UInt64) { draw(doneBytes + completed) }

    /// The present file is dealt with, whatever came of it.
    func endFile(_ size: UInt64) {
        doneFiles += 1
        doneBytes += size
        draw(doneBytes)
    }

    func end() { line.end() }

    private func draw(_ bytes: UInt64) {
        guard Console.errorIsTerminal else { return }
        let now = ContinuousClock.now
        if let lastShown, now - lastShown < Self.interval, doneFiles < fileCount { return }
        lastShown = now
        // Files may have grown since they were counted.
        line.show(
            ("files", doneFiles, max(doneFiles, fileCount)),
            ("KiB", Int(bytes >> 10), Int(max(bytes, byteCount) >> 10)))
    }
}
