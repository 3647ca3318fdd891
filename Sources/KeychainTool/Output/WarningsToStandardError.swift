internal import Logging

/// Shows what the engine warns of in the form of the command's own messages.
struct WarningsToStandardError: LogHandler {
    /// While it is true, nothing is shown: whoever set it looks at what the calls answer.
    @TaskLocal static var areHeld = false

    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if Self.areHeld { return }
        let details = (event.metadata ?? [:]).map { "\($0) \($1)" }.sorted().joined(separator: ", ")
        Console.complain("\(event.message)\(details.isEmpty ? "" : " (\(details))"): run \'keychainctl doctor\'")
    }
}
