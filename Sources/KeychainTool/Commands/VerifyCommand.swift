internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainKeys
internal import KeychainModel

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a signature of a file or of standard input.",
        discussion: "Says nothing and ends with 0 if the signature is right, and with 32 if it is not.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @OptionGroup var filter: KeyFilter
    @Option(help: "The algorithm.", completion: .list(KeyOperation.sign.names)) var algorithm: String?
    @Option(help: "The file of the signature.", completion: .file()) var signature: String
    @Flag(help: "The signature is in base64.") var base64 = false
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var input: KeyInput

    func validate() throws {
        if FileInput.isStandardInput(signature) || signature.isEmpty {
            throw ValidationError("The signature is in a file: standard input is for what was signed.")
        }
    }

    func run() throws {
        let (signature, message) = (try readSignature(), try input.read())
        var session = try KeychainSession.existing(store)
        session.asking = authentication.asking(
            reason: "check a signature" + filter.items.inWords(after: " with key "))
        let key = try session.publicKey(filter)
        guard case .signature(let method) = try KeyOperation.sign.algorithm(algorithm, of: key) else {
            throw ToolFailure(message: "the algorithm does not sign")
        }
        let isRight =
            switch key {
            case .rsa(let key): try key.verify(signature, of: message, method)
            case .ec(let key): try key.verify(signature, of: message, method)
            }
        guard isRight else {
            throw KeychainError(.verifyFailed, message: "the signature is not that of this key for these bytes")
        }
    }

    private func readSignature() throws -> Data {
        let bytes = try FileInput.read(
            signature, limit: 1 << 20, otherwise: "a signature has far less than 1 MiB"
        ).copyData()
        guard base64 else { return bytes }
        guard let decoded = Data(base64Encoded: bytes, options: .ignoreUnknownCharacters) else {
            throw KeychainError(.parameter, message: "\(signature) is not base64")
        }
        return decoded
    }
}

extension KeychainError.Code {
    /// `errSecVerifyFailed`.
    fileprivate static let verifyFailed = KeychainError.Code(status: -67808)
}
