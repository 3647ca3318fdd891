import DataProtection
import DataProtectionCore
import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport

let backupPassphrase = "correct horse"

extension TestKeychain {
    /// A backup key file of this keychain, whose passphrase costs little.
    @discardableResult
    func writeBackupKey(to url: URL) throws -> Data {
        let seal = try FileKeyBackupSeal(passphrase: .of(backupPassphrase), cost: 4)
        let request = FileKeyBackupRequest(header: seal.header, key: seal.key)
        guard case .fileKeyBackup(let file) = try handler.handle(.backUpFileKeys(request), from: .owner) else {
            throw KeychainError(.internalFailure, message: "another reply")
        }
        try file.write(to: url)
        return file
    }

    func backupKey() throws -> FileBackupKey {
        let url = directory.appendingPathComponent("files.key")
        try writeBackupKey(to: url)
        return try FileBackupKey(contentsOf: url, passphrase: Data(backupPassphrase.utf8))
    }
}

/// The error that something ends with; nil: none.
func failure(_ body: () throws(DataProtectionError) -> Void) -> DataProtectionError? {
    do throws(DataProtectionError) {
        try body()
        return nil
    } catch {
        return error
    }
}
