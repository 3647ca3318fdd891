internal import Foundation
internal import KeychainClient
internal import KeychainModel

extension KeychainSession {
    /// Calls `body` with everything there is to export, part by part.
    func export(group: String?, _ body: (ExportedPart) throws -> Void) throws {
        var request = ExportRequest(accessGroup: group)
        while true {
            guard case .exported(let part) = try connection.perform(.exportItems(request)) else {
                throw KeychainError.unexpectedReply
            }
            try body(part)
            guard let next = part.next else { return }
            request.start = next
        }
    }

    func merge(_ items: [Item], isDryRun: Bool) throws(KeychainError) -> [ImportOutcome] {
        guard
            case .imported(let outcomes) = try connection.perform(
                .importItems(ImportRequest(items, isDryRun: isDryRun)))
        else { throw .unexpectedReply }
        return outcomes
    }

    /// A backup key file: the class keys of this keychain's files, sealed.
    func fileKeyBackup(_ request: FileKeyBackupRequest) throws(KeychainError) -> Data {
        guard case .fileKeyBackup(let file) = try connection.perform(.backUpFileKeys(request)) else {
            throw .unexpectedReply
        }
        return file
    }

    /// How many items there are, whatever they are.
    func itemCount() throws(KeychainError) -> Int {
        guard case .status(let status) = try connection.perform(.status) else { throw .unexpectedReply }
        return status.itemCounts.values.reduce(0, +)
    }
}
