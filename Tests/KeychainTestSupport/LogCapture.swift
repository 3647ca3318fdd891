internal import Logging
internal import Synchronization

/// Everything that is logged in this process, at every level, once it was asked for.
///
/// A process has one logging system, so lines of tests that run at the same time are among them.
package enum LogCapture {
    private static let lines = Mutex<[String]>([])
    private static let isInstalled: Bool = {
        LoggingSystem.bootstrap { CapturingHandler(label: $0) }
        return true
    }()

    /// From here on; engines that are made later log to it.
    package static func begin() { precondition(isInstalled) }

    package static var text: String { lines.withLock { $0.joined(separator: "\n") } }

    fileprivate static func append(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct CapturingHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        LogCapture.append("\(label) \(event.level) \(event.message) \(metadata) \(event.metadata ?? [:])")
    }
}
