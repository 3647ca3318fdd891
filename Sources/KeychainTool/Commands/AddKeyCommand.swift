internal import ArgumentParser
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

struct AddKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Store a key that is in a file.",
        discussion: """
            RSA keys and keys on P-256, P-384 and P-521 are taken: PKCS#1, PKCS#8, SEC 1 and SubjectPublicKeyInfo, \
            each as PEM or DER, OpenSSH's files, and what 'keychainctl get key' writes except JWK. The passphrase of a PKCS#8 \
            file comes from a line of standard input, or from a prompt.
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The file of the key (default: standard input, as with -).", completion: .file()) var file: String?
    @OptionGroup var description: NewKey
    @Flag(help: "Print the item as it is stored, without its secret.") var json = false

    func validate() throws {
        if file == "" { throw ValidationError("A file cannot have an empty name.") }
    }

    func run() throws {
        let request = try description.request(for: try readKey())
        var session = try KeychainSession(store)
        let isFirst = session.presence == .absent
        session.asking = description.consent
        let item = try session.ask(.add(request))
        if isFirst { session.noteIfNeverLocked() }
        if json { try item.writeJSON() }
    }

    private func readKey() throws -> AsymmetricKey {
        switch try KeyFile(readFrom: file) {
        case .key(let key): return key
        case .encrypted(let key):
            guard !FileInput.isStandardInput(file) else {
                throw KeychainError(
                    .parameter,
                    message: "the key is under a passphrase, which comes from standard input: name the key's file")
            }
            return try key.key(try PasscodeInput.readPassphrase(of: .key))
        }
    }
}

extension KeyFile {
    /// - Parameter path: nil or "-": standard input.
    init(readFrom path: String?) throws {
        try self.init(
            FileInput.read(path, limit: Self.mostBytes, otherwise: "the file of a key has at most 1 MiB").copyData())
    }
}
