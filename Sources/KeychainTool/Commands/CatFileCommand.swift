internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials

struct CatFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat", abstract: "Write the content of protected files to standard output, exactly its bytes.",
        discussion: """
            Every byte is checked before it is written. Damage further on in a large file is found when it is reached, \
            after what is before it was written: look at the exit status. It ends with the first file that fails.

            Example:
              keychainctl file cat notes.txt | less
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @OptionGroup var arguments: PathArguments

    func run() throws {
        let session = try KeychainSession(store)
        let (files, storeFiles) = (session.files, StoreFiles(session))
        for path in arguments.paths {
            try storeFiles.requireElsewhere(path)
            try FileFailure.naming(path) {
                try files.read(from: URL(namedByPerson: path)) { bytes in try Console.write(bytes) }
            }
        }
    }
}
