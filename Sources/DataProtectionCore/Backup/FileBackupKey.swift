public import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import KeychainSystem
public import SealedFiles

/// The class keys of one keychain's files, read from a backup key file with its passphrase.
///
/// ```swift
/// let key = try FileBackupKey(contentsOf: keyFile, passphrase: Data("correct horse".utf8))
/// try files.restore(url, with: key)
/// ```
///
/// `keychainctl file backup-key` makes such a file while the keychain is unlocked. The key opens every protected file
/// of that keychain, including files that are made later, until all keys of the keychain are renewed. It needs neither
/// the passcode of the keychain nor its device key, so the passphrase is all that protects it.
///
/// The keys are sealed in memory and are opened for one file at a time. The value may be used by several threads at
/// once.
public struct FileBackupKey: Sendable {
    private let content: Content

    /// Opens a backup key file, which takes a third of a second and 128 MiB of memory.
    ///
    /// The cost makes guessing a passphrase slow. The copy of the passphrase that this makes is erased; the caller's
    /// own copy is not.
    ///
    /// - Parameters:
    ///   - url: The backup key file. A link is followed.
    ///   - passphrase: UTF-8 text of 1 to 1,024 bytes, taken exactly as it is.
    /// - Throws: `.wrongPassphrase`; `.tampered` if the file was changed or cut short; `.newerFormat`;
    ///   `.unsupportedFile` if it is no backup key file; `.invalidOption` for a passphrase that is empty, too long or
    ///   not UTF-8; `.system` if the file cannot be read.
    public init(contentsOf url: URL, passphrase: some ContiguousBytes) throws(DataProtectionError) {
        let bytes = SecretBytes(count: passphrase.withUnsafeBytes { $0.count }) { target in
            passphrase.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        self = try SealedFileBackupKey(contentsOf: url).opened(bytes)
    }

    fileprivate init(_ content: Content) { self.content = content }

    /// The keychain whose files the key opens. It is ``ProtectedFileInfo/keychain`` of these files.
    public var keychain: UUID { content.backup.storeID }

    /// Unwraps the key of one file.
    ///
    /// - Throws: `.wrongKey` if the file belongs to another keychain, or is under a class key that is not in here;
    ///   `.tampered` if the key does not open.
    func unwrap(_ wrapped: WrappedFileKey, _ path: String) throws(DataProtectionError) -> SecretBytes {
        try withKeychainErrors(path) { () throws(KeychainError) in try content.backup.unwrap(wrapped) }
    }

    fileprivate final class Content: Sendable {
        let backup: FileKeyBackup
        init(_ backup: FileKeyBackup) { self.backup = backup }
    }
}

/// The bytes of a backup key file, before a person is asked for its passphrase.
package struct SealedFileBackupKey: Sendable {
    private let bytes: Data
    private let path: String

    /// Reads a backup key file.
    ///
    /// - Throws: The errors of ``FileBackupKey/init(contentsOf:passphrase:)``.
    package init(contentsOf url: URL) throws(DataProtectionError) {
        let file = try OpenFile(reading: try FilePath.of(url))
        path = file.path
        // One byte more than the largest file shows that a file is too long.
        var bytes = Data(count: FileKeyBackup.mostBytes + 1)
        let count = try bytes.withMutableBytes { (target) throws(DataProtectionError) in
            try target.fill(from: file.descriptor, at: 0, file.path)
        }
        self.bytes = bytes.prefix(count)
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
    /// Translates an error of the keychain.
    ///
    /// - Parameter path: The path of the backup key file.
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
