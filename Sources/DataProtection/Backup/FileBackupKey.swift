public import Foundation
internal import KeychainCrypto
package import KeychainModel
internal import KeychainSystem

/// The class keys of one keychain's files, taken from a backup key file with its passphrase.
///
/// ```swift
/// let key = try FileBackupKey(contentsOf: keyFile, passphrase: Data("correct horse".utf8))
/// try files.restore(url, with: key)
/// ```
///
/// `keychainctl file backup-key` makes such a file, while the keychain is unlocked. It opens every protected file of that
/// keychain, those that are made later under the same keys too, and needs neither its passcode nor its device key.
public struct FileBackupKey: Sendable {
    private let content: Content

    /// Opens a backup key file. Takes a third of a second and 128 MiB.
    ///
    /// - Throws: `.wrongPassphrase`; `.tampered` if the file was changed or cut short, `.newerFormat`, `.unsupportedFile`
    ///   for another file than that; `.invalidOption` for what is no passphrase.
    public init(contentsOf url: URL, passphrase: some ContiguousBytes) throws(DataProtectionError) {
        let bytes = SecretBytes(count: passphrase.withUnsafeBytes { $0.count }) { target in
            passphrase.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        self = try SealedFileBackupKey(contentsOf: url).opened(bytes)
    }

    fileprivate init(_ content: Content) { self.content = content }

    /// The one whose files it opens.
    public var keychain: UUID { content.backup.storeID }

    /// - Throws: `.wrongKey` if it is another keychain's file, or under a class key that is not in here; `.tampered` if it
    ///   does not open.
    func unwrap(_ wrapped: WrappedFileKey, _ path: String) throws(DataProtectionError) -> SecretBytes {
        do throws(KeychainError) {
            return try content.backup.unwrap(wrapped)
        } catch {
            throw DataProtectionError(error, path)
        }
    }

    fileprivate final class Content: Sendable {
        let backup: FileKeyBackup
        init(_ backup: FileKeyBackup) { self.backup = backup }
    }
}

/// A backup key file as it was read, before anybody was asked for its passphrase.
package struct SealedFileBackupKey: Sendable {
    private let bytes: Data
    private let path: String

    /// - Throws: as ``FileBackupKey/init(contentsOf:passphrase:)``.
    package init(contentsOf url: URL) throws(DataProtectionError) {
        let file = try OpenFile(reading: try FilePath.of(url))
        path = file.path
        // One byte more than any has tells what is too long.
        var bytes = Data(count: FileKeyBackup.mostBytes + 1)
        let count = bytes.withUnsafeMutableBytes { target in
            Result { () throws(DataProtectionError) in try target.fill(from: file.descriptor, at: 0, file.path) }
        }
        self.bytes = bytes.prefix(try count.get())
        do throws(KeychainError) {
            try FileKeyBackup.requireFormat(self.bytes)
        } catch {
            throw DataProtectionError(backupKey: error, file.path)
        }
    }

    package func opened(_ passphrase: SecretBytes) throws(DataProtectionError) -> FileBackupKey {
        do throws(KeychainError) {
            try Passcode.check(passphrase, as: "passphrase")
        } catch {
            throw DataProtectionError(.invalidOption, path, error.message, status: error.code.status)
        }
        do throws(KeychainError) {
            return FileBackupKey(FileBackupKey.Content(try FileKeyBackup(opening: bytes, passphrase: passphrase)))
        } catch {
            throw DataProtectionError(backupKey: error, path)
        }
    }
}

extension DataProtectionError {
    /// - Parameter path: Of the backup key file.
    fileprivate init(backupKey error: KeychainError, _ path: String) {
        let code: Code =
            switch error.code {
            case .authenticationFailed: .wrongPassphrase
            case .decode: .tampered
            case .unimplemented: .newerFormat
            case .parameter: .unsupportedFile
            default: .keychain
            }
        self.init(code, path, error.message, status: error.code.status)
    }
}
