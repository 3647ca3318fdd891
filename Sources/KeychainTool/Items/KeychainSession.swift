internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainSalvage
internal import KeychainSystem

/// A connection to one keychain, as its owner, and the requests that commands make of it.
struct KeychainSession {
    let host: ChosenHost
    let connection: Connection
    /// The way to ask the person.
    let asking: Asking
    /// The passcode by which the owner shows to be it, once for all calls of the command.
    private let ownership = AuthenticationSession()

    init(_ options: StoreOptions, _ asking: Asking = Asking(mayAsk: false)) throws(KeychainError) {
        self.asking = asking
        connection = Connection(options.configuration, authority: .owner)
        host = try connection.host()
    }

    /// A session for a command that needs a store, and must not make an empty one.
    ///
    /// - Throws: `.itemNotFound` if there is no store yet.
    static func existing(
        _ options: StoreOptions, _ asking: Asking = Asking(mayAsk: false)
    ) throws(KeychainError) -> KeychainSession {
        let session = try KeychainSession(options, asking)
        guard session.presence != .absent else {
            throw KeychainError(.itemNotFound, message: "there is no keychain in \(session.host.place) yet")
        }
        return session
    }

    /// Whether this process opens the store itself.
    var isEmbedded: Bool {
        if case .embedded = host { true } else { false }
    }

    /// The presence of a store that this process opens itself. A daemon has a store, or says why not.
    var presence: StorePresence {
        switch host {
        case .embedded(let location): StorePresence(location)
        case .daemon: .present
        }
    }

    /// The place of the store's files; nil: a daemon keeps the device key elsewhere.
    ///
    /// - Throws: if a daemon does not answer.
    func location() throws(KeychainError) -> StoreLocation? {
        switch host {
        case .embedded(let location): return location
        case .daemon:
            let status = try connection.ask(.status)
            // The files of the system's daemon are its own.
            guard try connection.granted() == nil, case .file(let deviceKey) = status.deviceKey else { return nil }
            var configuration = KeychainConfiguration()
            configuration.storeDirectory = URL(fileURLWithPath: status.storePath, isDirectory: true)
            configuration.deviceKeyDirectory = URL(fileURLWithPath: deviceKey).deletingLastPathComponent()
            return try? StoreLocation(configuration)
        }
    }

    /// Says that items are in this user's own store, where no program looks; nil: none are.
    var unmoved: StoreFinding? {
        guard let location = try? StoreLocation(KeychainConfiguration()), StorePresence(location) == .present,
            let mark = try? StoreHost(ofStore: location.storeDirectory), mark.isMoving || mark == .embedded
        else { return nil }
        return .unmoved(location, mark)
    }

    func ask<Answer>(_ question: Question<Answer>) throws(KeychainError) -> Answer {
        try connection.ask(question, asking)
    }

    /// Asks for work that is for the owner. With the system's daemon the person shows the passcode for it.
    ///
    /// - Parameter reason: The end of "keychainctl wants to …".
    func askAsOwner<Answer>(_ question: Question<Answer>, to reason: String) throws(KeychainError) -> Answer {
        try connection.ask(question, Asking(in: ownership, reason: reason))
    }

    static let helpOfGroup =
        "The access group (default: keychain; with the system's keychaind, the first that it grants)."

    /// The group of a new item: `keychain`, or with the system's daemon the first one that it grants.
    ///
    /// - Parameter named: nil: the person names none.
    func group(_ named: String?) throws(KeychainError) -> String {
        if let named { return named }
        let granted = try connection.granted()
        return granted?.groups.first ?? KeychainConfiguration.groupOfCommand
    }

    // MARK: Finding

    /// The items that a query means, without their secrets.
    ///
    /// - Parameter asks: Whether the person is asked if some items ask for authentication.
    /// - Throws: as ``ItemQuery/foundWithoutAsking(by:)``.
    func find(_ query: ItemQuery, asks: Bool = false) throws(KeychainError) -> FoundWithoutAsking {
        if asks { return FoundWithoutAsking(items: try items(of: query, wantsSecrets: false)) }
        return try query.foundWithoutAsking { query throws(KeychainError) in
            try items(of: query, wantsSecrets: false)
        }
    }

    func itemCount() throws(KeychainError) -> Int {
        try connection.ask(.status).itemCounts.values.reduce(0, +)
    }

    func items(of query: ItemQuery, wantsSecrets: Bool) throws(KeychainError) -> [Item] {
        try ask(.find(query, wantsSecrets: wantsSecrets))
    }

    /// Whether an item matches, as far as that shows without a question.
    func has(_ query: ItemQuery) throws(KeychainError) -> Bool {
        guard presence == .present else { return false }
        do throws(KeychainError) {
            _ = try find(query)
        } catch  where error.code == .itemNotFound || error.code == .interactionNotAllowed {
            return false
        }
        return true
    }

    // MARK: Changing

    /// - Throws: `.duplicateItem` if the new item is there already, as far as that shows without a question.
    func requireAbsence(of request: AddRequest) throws(KeychainError) {
        guard try has(request.queryForExisting) else { return }
        throw KeychainError(
            .duplicateItem,
            message: "there is such a \(request.itemClass.title) already in access group \(request.accessGroup ?? ""); "
                + "--update gives it a new secret")
    }

    /// - Returns: false if the item has changed or is gone by now. Then nothing was changed.
    func replaceSecret(of item: Item, with secret: SecretBytes) throws(KeychainError) -> Bool {
        let query = ItemQuery(exactly: item.persistentReference)
        var changes = ItemChanges()
        changes.secret = secret
        return try ask(
            .commit(
                TransactionRequest(
                    seen: [SeenItems(query, versions: [ItemVersion(item)], hasSecrets: false)],
                    steps: [.update(UpdateRequest(query, changes: changes))])))
    }
}

extension KeychainError {
    static var consentNeeded: KeychainError {
        KeychainError(
            .interactionNotAllowed,
            message:
                "what matches asks for authentication: 'keychainctl find --ask' and 'keychainctl get' ask for it; it can be deleted without"
        )
    }

    static var keyStaysInEngine: KeychainError {
        KeychainError(
            .unimplemented,
            message: "the key is kept in the engine, and its bytes never leave: 'keychainctl key' uses it there, and "
                + "'keychainctl get key --public' shows its public half")
    }
}
