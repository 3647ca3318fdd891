internal import ArgumentParser
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

struct AddKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Store a key that is in a file.",
        discussion: """
            RSA keys and keys on P-256, P-384 and P-521 are taken: PKCS#1, PKCS#8, SEC 1 and SubjectPublicKeyInfo, \
            each as PEM or DER, OpenSSH's files, and what 'keychainctl get key' writes except JWK. The passphrase of a PKCS#8 \
            file comes from a line of standard input, or from a prompt.
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The file of the key (default: standard input, as with -).", completion: .file()) var file: String?
    @OptionGroup var description: NewKey
    @Flag(help: "Print the item as it is stored, without its secret.") var json = false

    func validate() throws { try NameKind.file.require(file) }

    func run() throws {
        let key = try readKey()
        let session = try KeychainSession(store, description.consent)
        let request = try description.request(for: key, in: session)
        let item = try session.storing { try session.ask(.add(request)) }
        if json { try item.writeJSON() }
    }

    private func readKey() throws -> AsymmetricKey {
        switch try KeyFile(readFrom: file) {
        case .key(let key): return key
        case .encrypted(let key):
            guard !FileInput.isStandardInput(file) else {
                throw KeychainError(
                    .parameter,
                    message: "the key is under a passphrase, which comes from standard input: name the key's file")
            }
            return try key.key(try PasscodeInput.readPassphrase(of: .key))
        }
    }
}

extension KeyFile {
    /// - Parameter path: nil or "-": standard input.
    init(readFrom path: String?) throws {
        try self.init(
            FileInput.read(path, limit: Self.mostBytes, otherwise: "the file of a key has at most 1 MiB").copyData())
    }
}

struct GenerateKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Make a key pair, store its private half, and print the public one as PEM.")

    @OptionGroup var store: StoreOptions
    @Option(help: "The kind of key.") var type = KeyType.ec256
    @OptionGroup var description: NewKey
    @Flag(help: "Make the key where the keychain is: it is used there and never leaves (ec256 only).")
    var inEngine = false
    @Flag(help: "Print the item as it is stored, and its public half.") var json = false

    func validate() throws {
        if inEngine && type != .ec256 { throw ValidationError("A key in the engine is one of --type ec256.") }
        if inEngine && description.sync { throw ValidationError("A key in the engine stays there: leave out --sync.") }
    }

    func run() throws {
        let session = try KeychainSession(store, description.consent)
        try requireFreeTag(session)
        let made = try session.storing { inEngine ? try makeInEngine(session) : try make(session) }
        let text = String(decoding: try KeyFileFormat.pem.bytes(of: made.publicHalf), as: UTF8.self)
        if json { return try made.item.json.adding("publicKey", text.json).writeJSON() }
        try Console.write(text)
    }

    private func make(_ session: KeychainSession) throws -> (item: Item, publicHalf: AsymmetricKey) {
        let key = try AsymmetricKey(generating: type.kind, bitCount: type.bitCount)
        let item = try session.ask(.add(try description.request(for: key, in: session)))
        return (item, try key.publicHalf)
    }

    private func makeInEngine(_ session: KeychainSession) throws -> (item: Item, publicHalf: AsymmetricKey) {
        var request = try description.request(in: session)
        request.accessControl = try description.protection.accessControlOfUse()
        let item = try session.ask(.makeKey(request))
        return (item, try StoredKey(item, session).publicHalf)
    }

    /// Only their references would tell two keys of one tag apart.
    private func requireFreeTag(_ session: KeychainSession) throws {
        var query = ItemQuery(.key)
        query.attributes[.applicationTag] = .text(description.tag)
        query.attributes[.keyClass] = .number(1)
        let group = try session.group(description.group)
        query.accessGroup = group
        query.synchronizable = .any
        guard try session.has(query) else { return }
        throw KeychainError(
            .duplicateItem,
            message: "there is a key with the tag \(description.tag) already in access group \(group): "
                + "choose another tag, or delete that key")
    }
}

struct NewKey: ParsableArguments {
    @Option(help: "The tag, by which commands and programs name the key.") var tag: String
    @Option(help: "The label, for people.") var label: String?
    @Option(help: ArgumentHelp(KeychainSession.helpOfGroup)) var group: String?
    @OptionGroup var protection: ItemProtection
    @OptionGroup var authentication: AuthenticationOptions
    @Flag(help: "Mark the item as one that may be synchronized.") var sync = false

    func validate() throws {
        try NameKind.group.require(group)
        if tag.isEmpty { throw ValidationError("A key's tag cannot be empty.") }
    }

    var consent: Asking { authentication.asking(reason: "store a key: tag \(tag)") }

    /// - Parameter key: nil: the engine makes the key.
    func request(for key: AsymmetricKey? = nil, in session: KeychainSession) throws -> AddRequest {
        var request = AddRequest(key, tag: tag, label: label)
        (request.accessGroup, request.synchronizable) = (try session.group(group), sync)
        request.accessControl = try protection.accessControl()
        return request
    }
}

extension AddRequest {
    /// - Parameter key: nil: the engine makes the key.
    init(_ key: AsymmetricKey?, tag: String?, label: String?) {
        self.init(.key)
        if let key {
            attributes = KeyItemAttributes(key).all
            secret = SecretBytes(copying: key.externalRepresentation)
        }
        if let tag { attributes[.applicationTag] = .text(tag) }
        if let label { attributes[.label] = .text(label) }
    }
}
