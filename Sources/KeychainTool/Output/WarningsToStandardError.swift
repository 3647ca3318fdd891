internal import Logging

/// Shows the engine's warnings in the form of the command's own messages.
struct WarningsToStandardError: LogHandler {
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).map { "\($0) \($1)" }.sorted().joined(separator: ", ")
        Console.complain("\(event.message)\(details.isEmpty ? "" : " (\(details))"): run \'keychainctl doctor\'")
    }
}
