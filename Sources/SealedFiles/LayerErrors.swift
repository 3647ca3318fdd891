package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

// The errors of the layers below become those of files here.

/// Runs `body`, and turns an error about the bytes of a file into one about the file.
package func withFormatErrors<R>(
    _ path: String, _ body: () throws(FileFormatError) -> R
) throws(DataProtectionError) -> R {
    do throws(FileFormatError) { return try body() } catch { throw DataProtectionError(error, path) }
}

/// Runs `body`, and turns an error of the keychain or the cipher into one about the file.
package func withKeychainErrors<R>(
    _ path: String, _ body: () throws(KeychainError) -> R
) throws(DataProtectionError) -> R {
    do throws(KeychainError) { return try body() } catch { throw DataProtectionError(error, path) }
}

extension DataProtectionError {
    package init(_ error: FileFormatError, _ path: String) {
        switch error {
        case .notProtected: self.init(.notProtected, path, "it is no protected file")
        case .truncated: self.init(.truncated, path, "the end of the file is missing")
        case .tampered(let reason): self.init(.tampered, path, "the file was changed, or is damaged: \(reason)")
        case .newerFormat(let version):
            self.init(
                .newerFormat, path,
                "it has format \(version), and this program knows format \(FileFormat.newestVersion): update it")
        }
    }
}

extension DataProtectionError {
    package init(_ error: KeychainError, _ path: String) {
        let code: Code =
            switch error.code {
            case .interactionNotAllowed: .locked
            case .noSuchKeychain: .wrongKey
            case .decode: .tampered
            case .notAvailable: .keysUnavailable
            default: .keychain
            }
        self.init(code, path, error.message, status: error.code.status)
    }
}

extension KeyMaterial {
    /// Takes a key that an engine gave out into memory that is kept out of dumps.
    package convenience init(_ key: SecretBytes, _ path: String) throws(DataProtectionError) {
        do throws(KeychainError) {
            try self.init { target throws(KeychainError) in
                guard key.count == target.count else {
                    throw KeychainError(.internalFailure, message: "the keychain gave a key of another size")
                }
                key.withUnsafeBytes { target.copyMemory(from: $0) }
            }
        } catch {
            throw DataProtectionError(error, path)
        }
    }
}

extension Randomness {
    /// Draws nonces for as many seals.
    func nonces(_ count: Int, _ path: String) throws(DataProtectionError) -> [InlineBytes<12>] {
        try withKeychainErrors(path) { () throws(KeychainError) in try nonces(count) }
    }
}

extension FileHeader {
    /// The first page of an open file, or the part of it that the file has.
    package static func firstPage(of file: Int32, _ path: String) throws(DataProtectionError) -> Data {
        var page = Data(count: FileFormat.headerByteCount)
        let count = try page.withMutableBytes { (page) throws(DataProtectionError) in
            try page.fill(from: file, at: 0, path)
        }
        return page.prefix(count)
    }
}
