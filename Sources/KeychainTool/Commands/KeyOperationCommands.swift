internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

// The operations with a key. Their results are bytes, and never JSON.

/// The keychain and the key that an operation uses.
struct KeyPlace: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var errors: JSONErrors
    @OptionGroup var filter: KeyFilter

    /// - Parameter action: The operation in words, for the person who is asked.
    func privateKey(_ action: String, _ authentication: AuthenticationOptions) throws -> StoredKey {
        try session(action, " with key ", authentication).privateKey(filter)
    }

    /// - Parameter words: The words between the operation and its key.
    func publicKey(_ action: String, _ words: String, _ authentication: AuthenticationOptions) throws -> AsymmetricKey {
        try session(action, words, authentication).publicKey(filter)
    }

    private func session(
        _ action: String, _ words: String, _ authentication: AuthenticationOptions
    ) throws -> KeychainSession {
        try .existing(store, authentication.asking(reason: action + filter.items.inWords(after: words)))
    }
}

/// The bytes that an operation with a key takes.
struct KeyInput: ParsableArguments {
    @Argument(help: "The file to take (default: standard input, as with -).", completion: .file()) var file: String?

    func validate() throws { try NameKind.file.require(file) }

    func read() throws -> Data {
        let message = "the input has more than 64 MiB, which is the most that is taken at once"
        return try FileInput.read(file, limit: SecretInput.limit, otherwise: message).copyData()
    }
}

/// The form of the result of an operation with a key.
struct KeyOutput: ParsableArguments {
    @Flag(help: "Write the result as base64 in one line, instead of its bytes.") var base64 = false

    func write(_ bytes: Data) throws {
        if base64 { return try Console.write(bytes.base64EncodedString() + "\n") }
        try Console.write(SecretBytes(copying: bytes))
    }
}

// MARK: Signatures

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Write a signature of a file or of standard input.",
        discussion: "The usual algorithms are ECDSA:message-X962:SHA256 and RSA:message-PKCS1v15:SHA256.")

    @OptionGroup var place: KeyPlace
    @Option(help: "The algorithm.", completion: .list(KeyOperation.sign.names)) var algorithm: String?
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: KeyOutput
    @OptionGroup var input: KeyInput

    func run() throws {
        let message = try input.read()
        let key = try place.privateKey("sign", authentication)
        try output.write(try key.sign(message, try KeyOperation.sign.method(algorithm, of: try key.publicHalf)))
    }
}

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a signature of a file or of standard input.",
        discussion: "Says nothing and ends with 0 if the signature is right, and with 32 if it is not.")

    @OptionGroup var place: KeyPlace
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
        let key = try place.publicKey("check a signature", " with key ", authentication)
        try key.requireSignature(signature, of: message, try KeyOperation.sign.method(algorithm, of: key))
    }

    private func readSignature() throws -> Data {
        let message = "a signature has far less than 1 MiB"
        let bytes = try FileInput.read(signature, limit: 1 << 20, otherwise: message).copyData()
        guard base64 else { return bytes }
        guard let decoded = Data(base64Encoded: bytes, options: .ignoreUnknownCharacters) else {
            throw KeychainError(.parameter, message: "\(signature) is not base64")
        }
        return decoded
    }
}

// MARK: Encryption

struct EncryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypt a file or standard input to a key.",
        discussion: """
            The usual algorithms are ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV and RSA:OAEP:SHA256:AESGCM, which take \
            any number of bytes, up to 64 MiB here.
            """)

    @OptionGroup var place: KeyPlace
    @Option(help: "The algorithm.", completion: .list(KeyOperation.encrypt.names)) var algorithm: String?
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: KeyOutput
    @OptionGroup var input: KeyInput

    func run() throws {
        let plaintext = try input.read()
        let key = try place.publicKey("encrypt", " to key ", authentication)
        try output.write(try key.encrypt(plaintext, try KeyOperation.encrypt.method(algorithm, of: key)))
    }
}

struct DecryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Decrypt what was encrypted to a key.",
        discussion: "The algorithm is the one of 'key encrypt'. Every fault of the bytes gives the same message.")

    @OptionGroup var place: KeyPlace
    @Option(help: "The algorithm.", completion: .list(KeyOperation.encrypt.names)) var algorithm: String?
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: KeyOutput
    @OptionGroup var input: KeyInput

    func run() throws {
        let ciphertext = try input.read()
        let key = try place.privateKey("decrypt", authentication)
        let method = try KeyOperation.encrypt.method(algorithm, of: try key.publicHalf)
        try output.write(try key.decrypt(ciphertext, method))
    }
}

// MARK: Agreement

struct AgreeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agree", abstract: "Write the secret that a key and somebody's public key have in common.",
        discussion: """
            The usual algorithm is ECDHC:KDFX963:SHA256, which derives as many bytes as are wanted. ECDH and ECDHC \
            alone give the X coordinate of the common point, which is no key by itself.
            """)

    @OptionGroup var place: KeyPlace
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
        let key = try place.privateKey("agree on a secret", authentication)
        let derivation = try derivation(of: try KeyOperation.agree.method(algorithm, of: try key.publicHalf))
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
