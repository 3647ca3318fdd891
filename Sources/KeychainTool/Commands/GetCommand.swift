internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainKeys
internal import KeychainModel

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write a secret to standard output, exactly its bytes and nothing else.",
        discussion: """
            On a terminal a line feed follows the secret, unless it ends with one. \
            If several items match, nothing is written and the message shows them. For an item that asks \
            for authentication the person is asked, by pinentry or in the terminal, or has to touch the fingerprint reader.

            Examples:
              keychainctl get mail.example
              keychainctl get mail.example --account ada
              keychainctl get internet mail.example --protocol imaps
              keychainctl get mail.example --clip 30s
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @OptionGroup var authentication: AuthenticationOptions
    @Option(help: "The form of a key, a certificate or an identity; raw is what is stored.")
    var format = OutputForm.raw
    @OptionGroup var passphrase: PassphraseOptions
    @Flag(name: .customLong("public"), help: "The public half of a key, whichever is stored.") var isPublic = false
    @OptionGroup var clip: ClipOptions
    @Flag(help: "Print the item with its secret as a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        if let itemClass = try filter.requireItem() { try check(itemClass) }
        if format != .pkcs12 && passphrase.passphraseFile != nil {
            throw ValidationError("--passphrase-file is for --format pkcs12.")
        }
    }

    private func check(_ itemClass: ItemClass) throws {
        try format.validate(for: itemClass)
        if itemClass != .key && isPublic {
            throw ValidationError("--public says nothing about a \(itemClass.title).")
        }
    }

    func run() throws {
        let consent = authentication.asking(reason: "show a secret" + filter.inWords(after: ": "))
        let session = try KeychainSession.existing(store, consent)
        let item = try filter.naming { try session.item(of: try filter.levels()) }
        try check(item.itemClass)
        let secret = try bytes(of: item, session)
        if clip.isChosen {
            try clip.put(secret)
            if json { try item.writeJSON() }
        } else if json {
            try Console.write(item.json, adding: secret, as: "secret")
        } else {
            try Console.writeLine(secret)
        }
    }

    private func bytes(of item: Item, _ session: KeychainSession) throws -> SecretBytes {
        if format == .raw && !isPublic { return try item.requireSecret() }
        guard item.itemClass == .key, let format = format.ofKey else {
            return SecretBytes(copying: try certificateBytes(of: item, session))
        }
        let stored = try StoredKey(item, session)
        if isPublic || format == .spki { return SecretBytes(copying: try format.bytes(of: try stored.publicHalf)) }
        guard case .software(let key) = stored else { throw KeychainError.keyStaysInEngine }
        return SecretBytes(copying: try format.bytes(of: key))
    }

    private func certificateBytes(of item: Item, _ session: KeychainSession) throws -> Data {
        func readPassphrase() throws -> SecretBytes { try passphrase.readNew(of: .pkcs12) }
        if item.itemClass == .identity {
            return try CertificateOutput.bytes(ofIdentity: item, format, session, readPassphrase)
        }
        return try CertificateOutput.bytes(of: try X509Certificate(stored: item.secret), format, readPassphrase)
    }
}
