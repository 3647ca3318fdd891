internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

struct AgreeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agree", abstract: "Write the secret that a key and somebody's public key have in common.",
        discussion: """
            The usual algorithm is ECDHC:KDFX963:SHA256, which derives as many bytes as are wanted. ECDH and ECDHC \
            alone give the X coordinate of the common point, which is no key by itself.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @OptionGroup var filter: KeyFilter
    @Option(help: "The file of the other public key.", completion: .file()) var peer: String
    @Option(help: "The algorithm.", completion: .list(KeyOperation.agree.names)) var algorithm: String?
    @Option(help: "How many bytes are derived (default: 32).") var size: Int?
    @Option(help: "A text that both sides derive with.") var info: String?
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: KeyOutput

    func validate() throws {
        if let size, !(1...X963KeyDerivation.mostBytes).contains(size) {
            throw ValidationError("--size is from 1 to \(X963KeyDerivation.mostBytes) bytes.")
        }
    }

    func run() throws {
        guard case .key(let other) = try KeyFile(readFrom: peer), !other.isPrivate else {
            throw KeychainError(.parameter, message: "the file --peer has a private key: give its public half")
        }
        var session = try KeychainSession.existing(store)
        session.asking = authentication.asking(
            reason: "agree on a secret" + filter.items.inWords(after: " with key "))
        let key = try session.privateKey(filter)
        guard case .exchange(let method) = try KeyOperation.agree.algorithm(algorithm, of: try key.publicHalf) else {
            throw ToolFailure(message: "the algorithm agrees on nothing")
        }
        let derivation = try derivation(of: method)
        guard case .ec(let other) = other, other.curve.bitCount == key.bitCount else {
            throw KeychainError(.parameter, message: "the other key is not on the same curve, P-\(key.bitCount)")
        }
        try output.write(try derivation(try key.sharedSecret(with: other)))
    }

    /// The function that makes the result of the common secret.
    private func derivation(of method: KeyAlgorithm.Exchange) throws -> (Data) throws -> Data {
        guard case .x963(_, let digest) = method else {
            guard size == nil, info == nil else {
                throw KeychainError(.parameter, message: "--size and --info are for algorithms with KDFX963")
            }
            return { $0 }
        }
        let (count, info) = (size ?? 32, Data((info ?? "").utf8))
        return { try X963KeyDerivation.derive(from: $0, sharedInfo: info, count: count, digest) }
    }
}
