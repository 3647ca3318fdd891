internal import ArgumentParser
internal import KeychainModel

/// Where the passphrase of a file comes from.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The file whose first line is the passphrase (- is standard input).", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    func validate() throws {
        if passphraseFile == "" { throw ValidationError("A file cannot have an empty name.") }
    }

    /// The first line of the file that was named; nil if none was.
    func read() throws -> SecretBytes? {
        guard let passphraseFile else { return nil }
        let content = try FileInput.read(
            passphraseFile, limit: 64 << 10, otherwise: "\(passphraseFile): a passphrase has at most 64 KiB")
        return content.withUnsafeBytes { bytes in
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: line))
        }
    }

    /// The passphrase of a file that is to be written: typed twice, unless a file has it.
    func readNew(of sealed: PasscodeInput.Sealed) throws -> SecretBytes {
        try read() ?? PasscodeInput.readNewPassphrase(of: sealed)
    }
}

/// The passphrases of several files: asked for one by one at a terminal, and else one for all.
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
