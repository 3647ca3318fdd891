internal import ArgumentParser
internal import KeychainModel

/// The source of a file's passphrase.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The file whose first line is the passphrase (- is standard input).", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    func validate() throws { try NameKind.file.require(passphraseFile) }

    /// The first line of the file that the option names; nil: there is no such option.
    func read() throws -> SecretBytes? {
        guard let passphraseFile else { return nil }
        let content = try FileInput.read(
            passphraseFile, limit: 64 << 10, otherwise: "\(passphraseFile): a passphrase has at most 64 KiB")
        return content.withUnsafeBytes { bytes in
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: line))
        }
    }

    /// The passphrase for a new file. A person types it twice, unless a file has it.
    func readNew(of sealed: PasscodeInput.Sealed) throws -> SecretBytes {
        try read() ?? PasscodeInput.readNewPassphrase(of: sealed)
    }
}

/// The passphrases of several files. A person at a terminal types one for each; otherwise one serves all.
struct PassphraseSource {
    private let options: PassphraseOptions
    private let readsFiles: Bool
    private var common: SecretBytes?

    init(_ options: PassphraseOptions, _ files: [String]) {
        (self.options, readsFiles) = (options, files.contains("-"))
    }

    mutating func passphrase(of file: String) throws -> SecretBytes {
        if let common { return common }
        if options.passphraseFile == nil {
            guard !readsFiles else {
                throw KeychainError(
                    .parameter,
                    message: "it is under a passphrase, and standard input is a file already: "
                        + "name a file with --passphrase-file")
            }
            if SecretInput.isTerminal { return try PasscodeInput.readPassphrase(ofFile: file) }
        }
        let passphrase = try options.read() ?? PasscodeInput.readPassphrase(ofFile: file)
        common = passphrase
        return passphrase
    }
}
