internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

struct WriteFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Write standard input, byte for byte, to a protected file.",
        discussion: """
            The file is there whole or not at all, and an older one stays until then. If that one is protected, the new \
            one has its class, unless --class says otherwise.

            Example:
              tar c letters | keychainctl file write --class complete letters.tar
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @Argument(help: "The file.", completion: .file()) var path: String
    @Option(
        name: .customLong("class"),
        help: """
            When the file opens (default: that of the file replaced, else what the directory gives to new files, else \
            complete-until-first-user-authentication).
            """)
    var fileClass: FileProtection?
    @Flag(help: "Fail (45) if there is a file of that name.") var noOverwrite = false
    @Flag(help: "Replace a file by an empty one, too.") var allowEmpty = false

    func validate() throws { try NameKind.file.require(path) }

    func run() throws {
        let session = try KeychainSession(store)
        try StoreFiles(session).requireElsewhere(path)
        let url = URL(namedByPerson: path)
        let files = session.filesMakingStore
        // Killed programs may have left files.
        _ = files.removeAllLeftovers(in: parentDirectory(of: path))
        // A pipe is empty when the program before it has failed.
        var mayBeEmpty = allowEmpty || !FilePath.exists(url.path)
        try FileFailure.naming(path) {
            try files.write(to: url, protection: fileClass, options: noOverwrite ? .withoutOverwriting : []) { target in
                let count = try Self.readInput(target)
                guard count > 0 || mayBeEmpty else {
                    throw KeychainError(
                        .parameter,
                        message: "standard input is empty; nothing was changed. To replace the file by an empty one "
                            + "add --allow-empty")
                }
                mayBeEmpty = true
                return count
            }
        }
    }

    private static func readInput(_ target: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = read(STDIN_FILENO, target.baseAddress, target.count)
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError("read standard input", errno) }
        }
    }
}
