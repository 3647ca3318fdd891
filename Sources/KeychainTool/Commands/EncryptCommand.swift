internal import ArgumentParser
internal import KeychainCrypto
internal import KeychainKeys

struct EncryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypt a file or standard input to a key.",
        discussion: """
            The usual algorithms are ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV and RSA:OAEP:SHA256:AESGCM, which take \
            any number of bytes, up to 64 MiB here.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @OptionGroup var filter: KeyFilter
    @Option(help: "The algorithm.", completion: .list(KeyOperation.encrypt.names)) var algorithm: String?
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: KeyOutput
    @OptionGroup var input: KeyInput

    func run() throws {
        let plaintext = try input.read()
        var session = try KeychainSession.existing(store)
        session.asking = authentication.asking(
            reason: "encrypt" + filter.items.inWords(after: " to key "))
        let key = try session.publicKey(filter)
        guard case .encryption(let method) = try KeyOperation.encrypt.algorithm(algorithm, of: key) else {
            throw ToolFailure(message: "the algorithm does not encrypt")
        }
        try output.write(try key.encrypt(plaintext, method))
    }
}
