internal import ArgumentParser
internal import Foundation
internal import KeychainCertificates
internal import KeychainCrypto
internal import KeychainModel

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write a secret to standard output, exactly its bytes and nothing else.",
        discussion: """
            On a terminal a line feed follows the secret, unless it ends with one. \
            If several items match, nothing is written and the message names their access groups. For an item that asks \
            for authentication the person is asked, by pinentry or in the terminal, or has to touch the fingerprint reader.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @OptionGroup var authentication: AuthenticationOptions
    @Option(help: "The form of a key, a certificate or an identity; raw is what is stored.")
    var format = OutputForm.raw
    @OptionGroup var passphrase: PassphraseOptions
    @Flag(name: .customLong("public"), help: "The public half of a key, whichever is stored.") var isPublic = false

    func validate() throws {
        let itemClass = try filter.requireItemClass()
        try format.validate(for: itemClass)
        if itemClass != .key && isPublic {
            throw ValidationError("--public says nothing about a \(itemClass.title).")
        }
        if format != .pkcs12 && passphrase.passphraseFile != nil {
            throw ValidationError("--passphrase-file is for --format pkcs12.")
        }
    }

    func run() throws {
        let query = try filter.query(for: try filter.requireItemClass())
        var session = try KeychainSession.existing(store)
        session.authentication = authentication.authentication(reason: "show a secret" + filter.inWords(after: ": "))
        let ready = session
        let secret = try filter.naming { try bytes(of: query, ready) }
        try Console.write(secret)
        // The shell's next prompt gets a line of its own. Elsewhere nothing is added to the secret.
        if Console.outputIsTerminal && !secret.endsLine { try Console.write("\n") }
    }

    private func bytes(of query: ItemQuery, _ session: KeychainSession) throws -> SecretBytes {
        if format == .raw && !isPublic { return try session.secret(of: query) }
        guard query.itemClass == .key, let format = format.ofKey else {
            return SecretBytes(copying: try certificateBytes(of: query, session))
        }
        let stored = try StoredKey(try session.item(of: query), session)
        if isPublic || format == .spki { return SecretBytes(copying: try format.bytes(of: try stored.publicHalf)) }
        guard case .software(let key) = stored else { throw KeychainError.keyStaysInEngine }
        return SecretBytes(copying: try format.bytes(of: key))
    }

    private func certificateBytes(of query: ItemQuery, _ session: KeychainSession) throws -> Data {
        let item = try session.item(of: query)
        func readPassphrase() throws -> SecretBytes { try passphrase.readNew(of: .pkcs12) }
        if query.itemClass == .identity {
            return try CertificateOutput.bytes(ofIdentity: item, format, session, readPassphrase)
        }
        return try CertificateOutput.bytes(of: try X509Certificate(stored: item.secret), format, readPassphrase)
    }
}
