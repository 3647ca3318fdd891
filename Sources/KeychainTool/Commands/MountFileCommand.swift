internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
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
    @Argument(help: "The directory that has the protected files.", completion: .directory) var directory: String
    @Argument(help: "An empty directory where they are shown.", completion: .directory) var point: String

    func validate() throws { try NameKind.directory.require(directory, point) }

    func run() throws {
        let session = try KeychainSession(store)
        if StoreFiles(session).belong(in: directory) { throw StoreFiles.refusal(of: directory) }
        let options =
            (foreground ? ["--foreground"] : []) + (store.storeDirectory.map { ["--store", $0] } ?? [])
            + (store.deviceKeyDirectory.map { ["--device-key", $0] } ?? [])
        throw OtherProgram.become("keychain-mount", options + ["--", directory, point], package: "swift-keychain")
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

    @Argument(help: "The mount point.", completion: .directory) var point: String

    func validate() throws { try NameKind.directory.require(point) }

    func run() throws { throw OtherProgram.become("fusermount3", ["-u", "--", point], package: "fuse3") }
}

/// A program that goes on in the place of this one.
enum OtherProgram {
    /// - Parameter package: The package that has the program, for the error.
    /// - Returns: The failure. Otherwise the call does not return.
    static func become(_ name: String, _ words: [String], package: String) -> KeychainError {
        // Programs of one release lie side by side.
        let beside = FilePath.join(FilePath.directory(of: OwnProgram.path), name)
        let found =
            SearchPath.isProgram(beside) ? beside : SearchPath(Environment.process.variables["PATH"]).program(name)
        guard let found else {
            return KeychainError(.notAvailable, message: "there is no program \(name): install the package \(package)")
        }
        var arguments = ([found] + words).map { strdup($0) } + [nil]
        execv(found, &arguments)
        return KeychainError(.notAvailable, message: "cannot start \(found): \(String(cString: strerror(errno)))")
    }
}
