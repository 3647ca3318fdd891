internal import ArgumentParser
internal import KeychainKeys

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Write a signature of a file or of standard input.",
        discussion: "The usual algorithms are ECDSA:message-X962:SHA256 and RSA:message-PKCS1v15:SHA256.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @OptionGroup var filter: KeyFilter
    @Option(help: "The algorithm.", completion: .list(KeyOperation.sign.names)) var algorithm: String?
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: KeyOutput
    @OptionGroup var input: KeyInput

    func run() throws {
        let message = try input.read()
        var session = try KeychainSession.existing(store)
        session.asking = authentication.asking(
            reason: "sign" + filter.items.inWords(after: " with key "))
        let key = try session.privateKey(filter)
        guard case .signature(let method) = try KeyOperation.sign.algorithm(algorithm, of: try key.publicHalf) else {
            throw ToolFailure(message: "the algorithm does not sign")
        }
        try output.write(try key.sign(message, method))
    }
}
