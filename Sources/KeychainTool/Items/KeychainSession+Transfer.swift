internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel

extension KeychainSession {
    /// Calls `body` with the items to export, part by part.
    func export(group: String?, _ body: (ExportedPart) throws -> Void) throws {
        var request = ExportRequest(accessGroup: group)
        while true {
            let part = try connection.ask(.export(request))
            try body(part)
            guard let next = part.next else { return }
            request.start = next
        }
    }

    func merge(_ items: [Item], isDryRun: Bool) throws(KeychainError) -> [ImportOutcome] {
        try connection.ask(.importItems(ImportRequest(items, isDryRun: isDryRun)))
    }

    /// A backup key file: the class keys of this keychain's files, sealed.
    func fileKeyBackup(_ request: FileKeyBackupRequest) throws(KeychainError) -> Data {
        try connection.ask(.backUpFileKeys(request))
    }

    func itemCount() throws(KeychainError) -> Int {
        try connection.ask(.status).itemCounts.values.reduce(0, +)
    }
}
