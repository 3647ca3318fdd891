internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainFiles
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

/// A project's own file, as it was at one moment.
struct Project {
    let path: String
    /// SHA-256 in hexadecimal digits.
    let digest: String
    private let bytes: SecretBytes

    /// The path of the file of a directory, or of the nearest one above it; nil: there is none.
    static func path(in directory: String) -> String? {
        var directory = directory
        while true {
            let path = FilePath.join(directory, ProjectFile.name)
            var status = stat()
            // A file that cannot be looked at may be the project's own: reading it tells why.
            if lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR) { return path }
            if directory == "/" || directory.isEmpty { return nil }
            directory = FilePath.directory(of: directory)
        }
    }

    /// Without links in it.
    static func workingDirectory() throws(KeychainError) -> String {
        guard let name = getcwd(nil, 0) else { throw KeychainError(file: "the working directory", "open", errno) }
        defer { free(name) }
        guard let text = String(validatingCString: name), FilePath.isAbsolute(text) else {
            throw KeychainError(
                .parameter, message: "the name of the working directory is not UTF-8 text: rename it first")
        }
        return text
    }

    /// - Throws: `.itemNotFound` if it is not there, `.notAvailable` if it is no file of this user's.
    init(_ path: String) throws {
        guard let descriptor = try Self.open(path) else {
            throw KeychainError(.itemNotFound, message: "there is no \(path)")
        }
        defer { close(descriptor) }
        let buffer = SecretBuffer()
        while try buffer.fill(from: descriptor, failure: { KeychainError(file: path, "read", $0) }) {
            guard buffer.count <= ProjectFile.mostBytes else {
                throw KeychainError(.dataTooLarge, message: "\(path) has more than 64 KiB")
            }
        }
        self.path = path
        bytes = buffer.secret()
        digest = DigestAlgorithm.sha256.digest(of: bytes.copyData()).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    private static func open(_ path: String) throws(KeychainError) -> Int32? {
        do {
            return try OwnFile.open(URL(fileURLWithPath: path), O_RDONLY)
        } catch {
            throw KeychainError(
                error.code, message: "\(path) does not count: it has to be a file of your own, and no link",
                cause: error)
        }
    }

    /// - Throws: `.parameter` with the place of a mistake.
    func content() throws(KeychainError) -> ProjectFile {
        do throws(SyntaxFlaw) {
            return try bytes.withUnsafeBytes { (bytes) throws(SyntaxFlaw) in try ProjectFile(bytes) }
        } catch {
            throw KeychainError(.parameter, message: error.text(of: path))
        }
    }
}
