internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

struct MountFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount", abstract: "Show a directory of protected files to any program, as ordinary files.",
        discussion: """
            Programs of yours read and write below the mount point as usual, and each file is encrypted in the directory. A \
            new file has the class that its directory gives ('file class --set'), or the default class. While the \
            keychain is locked, files of the classes that need it unlocked give "Permission denied", and nothing of \
            their content stays in the system's memory. docs/mount.md says what works in which class.

            It needs fusermount3 (the package fuse3). The mount ends with 'file unmount'.

            Example:
              mkdir -p ~/Vault ~/.vault
              keychainctl file class --set complete ~/.vault
              keychainctl file mount ~/.vault ~/Vault
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Stay in the foreground until the mount ends, for a service manager.") var foreground = false
    @OptionGroup var errors: JSONErrors
    @Argument(help: "The directory that has the protected files.", completion: .directory) var directory: String
    @Argument(help: "An empty directory where they are shown.", completion: .directory) var point: String

    func validate() throws { try NameKind.directory.require(directory, point) }

    func run() throws {
        let session = try KeychainSession(store)
        if StoreFiles(session).belong(in: directory) { throw StoreFiles.refusal(of: directory) }
        let options =
            (foreground ? ["--foreground"] : []) + (store.storeDirectory.map { ["--store", $0] } ?? [])
            + (store.deviceKeyDirectory.map { ["--device-key", $0] } ?? [])
        try OtherProgram.run("keychain-mount", options + ["--", directory, point], package: "swift-keychain")
    }
}

struct UnmountFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmount", abstract: "End a mount of protected files.",
        discussion: """
            It fails while a program uses a file there or has its working directory there.

            Example:
              keychainctl file unmount ~/Vault
            """)

    @OptionGroup var errors: JSONErrors
    @Argument(help: "The mount point.", completion: .directory) var point: String

    func validate() throws { try NameKind.directory.require(point) }

    func run() throws { try OtherProgram.run("fusermount3", ["-u", "--", point], package: "fuse3") }
}

/// A program that does the work of a command.
enum OtherProgram {
    /// Goes on as that program. If errors are wanted as JSON, waits for its end instead, and tells its errors so.
    ///
    /// - Parameter package: The package that has the program, for the error.
    static func run(_ name: String, _ words: [String], package: String) throws {
        // Programs of one release lie side by side.
        let beside = FilePath.join(FilePath.directory(of: OwnProgram.path), name)
        let found =
            SearchPath.isProgram(beside) ? beside : SearchPath(Environment.process.variables["PATH"]).program(name)
        guard let found else {
            throw KeychainError(.notAvailable, message: "there is no program \(name): install the package \(package)")
        }
        if Console.speaksJSON { return try startAndWait(found, words) }
        var arguments = ([found] + words).map { strdup($0) } + [nil]
        execv(found, &arguments)
        throw SystemError("start \(found)", errno)
    }

    private static func startAndWait(_ path: String, _ words: [String]) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("make a pipe", errno) }
        let (errors, theirs) = (OpenDescriptor(ends[0]), OpenDescriptor(ends[1]))
        let status = try SpawnedProgram(
            path, words, descriptors: (STDIN_FILENO, STDOUT_FILENO, theirs.number)
        ).awaitEnd()
        guard status != 0 else { return }
        // A program that goes on may have the other end.
        _ = fcntl(errors.number, F_SETFL, O_NONBLOCK)
        var text = [UInt8](repeating: 0, count: 64 << 10)
        let count = max(0, read(errors.number, &text, text.count))
        let message = String(decoding: text[..<count], as: UTF8.self)
        FailureReport(status: status, message: message.split(separator: "\n").joined(separator: "; ")).tell()
        throw ExitCode(status)
    }
}
