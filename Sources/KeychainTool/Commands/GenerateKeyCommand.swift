internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

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
        var session = try KeychainSession(store)
        try requireFreeTag(session)
        let isFirst = session.presence == .absent
        session.asking = description.consent
        let made = inEngine ? try makeInEngine(session) : try make(session)
        if isFirst { session.noteIfNeverLocked() }
        try report(made)
    }

    private func report(_ made: (item: Item, publicHalf: AsymmetricKey)) throws {
        let text = String(decoding: try KeyFileFormat.pem.bytes(of: made.publicHalf), as: UTF8.self)
        if json { return try made.item.json.adding("publicKey", text.json).writeJSON() }
        try Console.write(text)
    }

    private func make(_ session: KeychainSession) throws -> (item: Item, publicHalf: AsymmetricKey) {
        let key = try AsymmetricKey(generating: type.kind, bitCount: type.bitCount)
        let item = try session.ask(.add(try description.request(for: key)))
        return (item, try key.publicHalf)
    }

    private func makeInEngine(_ session: KeychainSession) throws -> (item: Item, publicHalf: AsymmetricKey) {
        var request = try description.request()
        request.accessControl = try description.protection.accessControlOfUse()
        let item = try session.ask(.makeKey(request))
        return (item, try StoredKey(item, session).publicHalf)
    }

    /// Only their references would tell two keys of one tag apart.
    private func requireFreeTag(_ session: KeychainSession) throws {
        var query = ItemQuery(.key)
        query.attributes[.applicationTag] = .text(description.tag)
        query.attributes[.keyClass] = .number(1)
        query.accessGroup = description.group
        query.synchronizable = .any
        guard try session.has(query) else { return }
        throw KeychainError(
            .duplicateItem,
            message: "there is a key with the tag \(description.tag) already in access group \(description.group): "
                + "choose another tag, or delete that key")
    }
}
