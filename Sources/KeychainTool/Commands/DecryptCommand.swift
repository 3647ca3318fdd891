internal import ArgumentParser
internal import KeychainKeys

struct DecryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Decrypt what was encrypted to a key.",
        discussion: """
            The algorithm is the one of 'key encrypt'. Whatever is wrong with the bytes, the message is the same.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @OptionGroup var filter: KeyFilter
    @Option(help: "The algorithm.", completion: .list(KeyOperation.encrypt.names)) var algorithm: String?
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: KeyOutput
    @OptionGroup var input: KeyInput

    func run() throws {
        let ciphertext = try input.read()
        var session = try KeychainSession.existing(store)
        session.asking = authentication.asking(
            reason: "decrypt" + filter.items.inWords(after: " with key "))
        let key = try session.privateKey(filter)
        let publicHalf = try key.publicHalf
        guard case .encryption(let method) = try KeyOperation.encrypt.algorithm(algorithm, of: publicHalf) else {
            throw ToolFailure(message: "the algorithm does not encrypt")
        }
        try output.write(try key.decrypt(ciphertext, method))
    }
}
