internal import FoundationEssentials
internal import Glibc
package import KeychainSystem
package import Logging

/// Writes to standard error: for systemd's journal with the priority that it knows, for a person with time and level.
package struct JournalLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let style: Style

    /// The beginning of a line.
    package enum Style: Sendable {
        /// The journal notes the time itself (sd-daemon(3)).
        case journal
        case person

        /// The journal says which descriptor leads to it by the file's device and inode (systemd.exec(5)).
        package static func ofStandardError(_ environment: Environment) -> Style {
            var information = stat()
            guard let name = environment.variables["JOURNAL_STREAM"], fstat(STDERR_FILENO, &information) == 0 else {
                return .person
            }
            return name == "\(information.st_dev):\(information.st_ino)" ? .journal : .person
        }
    }

    package init(_ style: Style, level: Logger.Level) {
        self.style = style
        logLevel = level
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.map { "\($0)=\($1)" }.sorted()
        let text = (["\(event.message)"] + details).joined(separator: " ")
        // One entry is one line, whatever its text.
        let line = start(event.level) + text.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
        // In one piece as a rule, since several threads write. If errors cannot be written, no other place can take them.
        _ = Array(line.utf8).withUnsafeBytes { $0.write(to: STDERR_FILENO) }
    }

    private func start(_ level: Logger.Level) -> String {
        switch style {
        case .journal: "<\(level.priority)>"
        case .person: "\(Date().formatted(.iso8601)) \(level): "
        }
    }
}

extension Logger.Level {
    /// The priorities are syslog's (sd-daemon(3)).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
