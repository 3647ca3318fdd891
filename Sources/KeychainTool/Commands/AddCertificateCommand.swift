internal import ArgumentParser
internal import KeychainCertificates
internal import KeychainModel

struct AddCertificateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Store the certificates that are in files.",
        discussion: """
            All certificates of all files are stored, or none. One that is there already stays as it is, and a message \
            says so. Keys in the files are not stored: see 'keychainctl add identity'. Nothing is checked for trust.

            The passphrase of a PKCS#12 file comes from --passphrase-file, from a line of standard input, or from a prompt.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var input: CertificateInput
    @Option(help: "When the certificates can be read (default: always).") var accessible: Protection?
    @OptionGroup var description: NewCertificates

    func run() throws {
        let collection = try input.read()
        guard !collection.certificates.isEmpty else {
            throw KeychainError(
                .parameter, message: "there is no certificate, but a key: 'keychainctl add key' stores that")
        }
        if !collection.keys.isEmpty {
            Console.note("note: keys in the files are not stored; 'keychainctl add identity' stores them too")
        }
        let requests = collection.certificates.map { certificate in
            var request = description.request(for: certificate)
            if let accessible { request.accessControl = AccessControl(accessible) }
            return request
        }
        try description.store(requests, in: store)
    }
}

struct AddIdentityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity", abstract: "Store keys with their certificates, which are in files.",
        discussion: """
            The files have one or more private keys and the certificate of each: a PKCS#12 file, a PEM file of both, or one \
            file for the key and one for the certificate. Other certificates in them, such as the issuers', are stored too. \
            Either all of it is stored or nothing. Items that are there already stay as they are, and a message names them.

            Passphrases come from --passphrase-file, from a line of standard input, or from a prompt. Without a terminal one \
            passphrase is for all files.

            Examples:
              keychainctl add identity client.p12
              keychainctl add identity host.crt host.key chain.pem
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var input: CertificateInput
    @Option(help: "The tag, by which commands and programs name the key.") var tag: String?
    @OptionGroup var description: NewCertificates
    @OptionGroup var protection: ItemProtection
    @OptionGroup var authentication: AuthenticationOptions

    func validate() throws {
        if tag == "" { throw ValidationError("A key's tag cannot be empty.") }
    }

    func run() throws {
        let collection = try input.read()
        guard !collection.keys.isEmpty else {
            throw KeychainError(
                .parameter,
                message: "there is no private key in the files: 'keychainctl add certificate' stores the rest")
        }
        if tag != nil && collection.keys.count > 1 {
            throw KeychainError(
                .parameter, message: "there are \(collection.keys.count) keys in the files, and one --tag: leave it out"
            )
        }
        for (key, name) in collection.keys where collection.certificate(of: key) == nil {
            throw KeychainError(
                .parameter,
                message: "the key\(name.map { " \($0)" } ?? "") has no certificate in the files: name its file too, or "
                    + "store the key with 'keychainctl add key'")
        }
        let accessControl = try protection.accessControl()
        let requests =
            collection.keys.map { description.request(for: $0.key, tag: tag, accessControl) }
            + collection.certificates.map { description.request(for: $0) }
        try description.store(requests, in: store, authentication.asking(reason: "store an identity"))
    }
}
