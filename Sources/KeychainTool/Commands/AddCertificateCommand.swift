internal import ArgumentParser
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
        try description.store(requests, in: store, .once(reason: "store certificates", mayAsk: false))
    }
}
