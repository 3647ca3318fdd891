internal import ArgumentParser
internal import KeychainModel
internal import KeychainRun

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
        try OtherProgram.run("keychain-mount", options + ["--", directory, point], package: "keychainctl")
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

extension OtherProgram {
    /// Goes on as that program. If errors are wanted as JSON, waits for its end instead, and tells its errors so.
    ///
    /// - Parameter package: The package that has the program, for the error.
    fileprivate static func run(_ name: String, _ words: [String], package: String) throws {
        guard let program = OtherProgram(name) else {
            throw KeychainError(.notAvailable, message: "there is no program \(name): install the package \(package)")
        }
        guard Console.speaksJSON else { try program.becomeThis(words) }
        let (status, errors) = try program.run(words)
        guard status != 0 else { return }
        FailureReport(status: status, message: errors.joined(separator: "; ")).tell()
        throw ExitCode(status)
    }
}
