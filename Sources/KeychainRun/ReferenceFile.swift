internal import FoundationEssentials
internal import Glibc
internal import KeychainKeys
package import KeychainModel
internal import KeychainSystem

/// A file that names secrets for a command, as it was at one moment: a project's keychain.toml or an env file.
package struct ReferenceFile {
    /// A limit that no real file comes near.
    private static let mostBytes = 4 << 20

    package let path: String
    /// Whether the file has an absolute path, so that a permission can be remembered for it.
    package let isNameable: Bool
    package let content: ReferenceContent
    /// SHA-256 in hexadecimal digits.
    package let digest: String
    /// The reason why the file needs permission: the end of a sentence that begins with the file. nil: it needs none.
    package let objection: String?

    /// - Throws: `.itemNotFound` if the file is missing, `.notAvailable` if it is not this user's own, `.parameter`
    ///   with the place of a mistake.
    package init(project path: String) throws {
        guard let descriptor = try Self.open(path) else {
            throw KeychainError(.itemNotFound, message: "there is no \(path)")
        }
        defer { close(descriptor) }
        let bytes = try Self.read(descriptor, path, limit: ProjectFile.mostBytes, "64 KiB")
        self.path = path
        isNameable = true
        content = .project(try Self.parse(bytes, path) { (bytes) throws(SyntaxFlaw) in try ProjectFile(bytes) })
        digest = Self.digest(bytes)
        objection = "is not allowed"
    }

    /// - Parameter path: The path of any readable file, even a pipe; "-": standard input.
    /// - Throws: `.inputOutput`, `.dataTooLarge`, or `.parameter` with the place of a mistake.
    package init(environment path: String) throws {
        let isInput = path == "-"
        let descriptor = isInput ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw KeychainError(file: path, "read", errno) }
        defer { if !isInput { close(descriptor) } }
        let bytes = try Self.read(descriptor, path, limit: Self.mostBytes, "4 MiB")
        let file = try Self.parse(bytes, path) { (bytes) throws(SyntaxFlaw) in try EnvironmentFile(bytes) }
        let place = FilePlace(descriptor)
        (self.path, isNameable) = (place.path ?? path, place.path != nil)
        content = .environment(file)
        digest = Self.digest(bytes)
        objection = place.objection ?? (isInput ? nil : FilePlace.objection(toDirectory: FilePath.directory(of: path)))
    }

    // MARK: Reading

    private static func open(_ path: String) throws(KeychainError) -> Int32? {
        do {
            return try OwnFile.open(URL(fileURLWithPath: path), O_RDONLY)
        } catch {
            throw KeychainError(
                error.code, message: "\(path) does not count: it has to be a file of your own, and no link",
                cause: error)
        }
    }

    private static func read(_ descriptor: Int32, _ path: String, limit: Int, _ size: String) throws -> SecretBytes {
        let buffer = SecretBuffer()
        while try buffer.fill(from: descriptor, failure: { KeychainError(file: path, "read", $0) }) {
            guard buffer.count <= limit else {
                throw KeychainError(.dataTooLarge, message: "\(path) has more than \(size)")
            }
        }
        return buffer.secret()
    }

    private static func parse<R>(
        _ bytes: SecretBytes, _ path: String, _ body: (UnsafeRawBufferPointer) throws(SyntaxFlaw) -> R
    ) throws(KeychainError) -> R {
        do throws(SyntaxFlaw) {
            return try bytes.withUnsafeBytes(body)
        } catch {
            throw KeychainError(.parameter, message: error.text(of: path))
        }
    }

    private static func digest(_ bytes: SecretBytes) -> String {
        DigestAlgorithm.sha256.digest(of: bytes.copyData()).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    // MARK: Paths

    /// Whether a person names a project: a keychain.toml, its directory, or by no path the nearest one.
    package static func isProject(_ path: String?) -> Bool {
        path.map { isDirectory($0) || FilePath.name(of: $0) == ProjectFile.name } ?? true
    }

    /// The file's path, without links in its directory. A keychain.toml may be missing, or be a link, which the reading
    /// refuses.
    ///
    /// - Parameter path: As ``isProject(_:)`` takes it, or an env file; absolute.
    /// - Throws: `.itemNotFound` if no path is given and there is no keychain.toml.
    package static func resolved(_ path: String?) throws(KeychainError) -> String {
        guard let path else {
            let directory = try workingDirectory()
            if let found = projectPath(in: directory) { return found }
            throw KeychainError(.itemNotFound, message: "there is no \(ProjectFile.name) in \(directory) or above it")
        }
        if !isProject(path), let real = try? withoutLinks(path) { return real }
        let (directory, name) =
            isDirectory(path) ? (path, ProjectFile.name) : (FilePath.directory(of: path), FilePath.name(of: path))
        return FilePath.join(URL(fileURLWithPath: directory).resolvingSymlinksInPath().path, name)
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
    }

    /// The path of the project's file in a directory, or in the nearest one above it; nil: there is no such file.
    package static func projectPath(in directory: String) -> String? {
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

    /// The path of the working directory, without links.
    package static func workingDirectory() throws(KeychainError) -> String {
        guard let name = getcwd(nil, 0) else { throw KeychainError(file: "the working directory", "open", errno) }
        defer { free(name) }
        guard let text = String(validatingCString: name), FilePath.isAbsolute(text) else {
            throw KeychainError(
                .parameter, message: "the name of the working directory is not UTF-8 text: rename it first")
        }
        return text
    }

    package static func withoutLinks(_ path: String) throws(KeychainError) -> String {
        guard let name = realpath(path, nil) else { throw KeychainError(file: path, "read", errno) }
        defer { free(name) }
        guard let text = String(validatingCString: name) else {
            throw KeychainError(.parameter, message: "\(path) leads to a name that is not UTF-8 text")
        }
        return text
    }
}
