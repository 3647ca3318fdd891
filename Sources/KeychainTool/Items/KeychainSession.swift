internal import Foundation
internal import KeychainModel
internal import KeychainSystem
internal import SwiftKeychain

/// A connection to one keychain, as its owner, and the requests that commands make of it.
struct KeychainSession {
    let host: ChosenHost
    let connection: Connection
    /// What the person shows to this run; a command that may ask says so.
    var authentication = CommandAuthentication(reason: "use an item", mayAsk: false)

    init(_ options: StoreOptions) throws(KeychainError) {
        let configuration = options.configuration
        host = try ChosenHost(configuration)
        connection = Connection(configuration, authority: .owner)
    }

    /// For a command that only means items that are there: it must not leave an empty store behind.
    ///
    /// - Throws: `.itemNotFound` if there is no store yet.
    static func existing(_ options: StoreOptions) throws(KeychainError) -> KeychainSession {
        let session = try KeychainSession(options)
        guard session.presence != .absent else {
            throw KeychainError(.itemNotFound, message: "there is no keychain in \(session.host.place) yet")
        }
        return session
    }

    /// Whether this process opens the store itself.
    var isEmbedded: Bool {
        if case .embedded = host { true } else { false }
    }

    /// What there is of the store, as far as it is this process that opens it. A daemon has a store, or says why not.
    var presence: StorePresence {
        switch host {
        case .embedded(let location): StorePresence(location)
        case .daemon: .present
        }
    }

    /// Where the store's files are; nil: a daemon has it and does not say, or keeps the device key elsewhere.
    var location: StoreLocation? {
        switch host {
        case .embedded(let location): return location
        case .daemon:
            // What keeps the daemon from answering is told by whatever is asked of it next.
            guard case .status(let status)? = try? connection.perform(.status),
                case .file(let deviceKey) = status.deviceKey
            else { return nil }
            var configuration = KeychainConfiguration()
            configuration.storeDirectory = URL(fileURLWithPath: status.storePath, isDirectory: true)
            configuration.deviceKeyDirectory = URL(fileURLWithPath: deviceKey).deletingLastPathComponent()
            return try? StoreLocation(configuration)
        }
    }

    // MARK: Finding

    /// What a search found, and whether items were left out because they ask for authentication.
    struct Matches {
        var items: [Item]
        var hasConstrained: Bool
    }

    /// Every item that a query means, attributes only.
    ///
    /// - Parameter asks: Whether the person is asked, if some of them ask for authentication.
    /// - Throws: `.itemNotFound` if there is none; `.interactionNotAllowed` if the keychain is locked, since items
    ///   that ask for authentication are no failure here.
    func find(_ query: ItemQuery, asks: Bool = false) throws(KeychainError) -> Matches {
        if asks { return Matches(items: try items(of: query, wantsSecrets: false), hasConstrained: false) }
        var query = query
        query.authenticationUI = .fail
        do throws(KeychainError) {
            return Matches(items: try items(of: query, wantsSecrets: false), hasConstrained: false)
        } catch  where error.code == .interactionNotAllowed {
            // Either some of them ask for authentication or the keychain is locked. Only the latter is refused again,
            // in the engine's own words, when those that ask are left out.
            var others = query
            others.authenticationUI = .skip
            do throws(KeychainError) {
                return Matches(items: try items(of: others, wantsSecrets: false), hasConstrained: true)
            } catch  where error.code == .itemNotFound {
                // Items that are there but may not be read are not "not found".
                return Matches(items: [], hasConstrained: true)
            }
        }
    }

    func items(of query: ItemQuery, wantsSecrets: Bool) throws(KeychainError) -> [Item] {
        let request = Request.find(FindRequest(query, wantsSecrets: wantsSecrets))
        guard case .found(let items) = try authentication.perform(request, over: connection)
        else { throw .unexpectedReply }
        return items
    }

    /// Whether something matches, as far as that can be seen without asking anybody.
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

    /// - Returns: the item as it is stored.
    func add(_ request: AddRequest) throws(KeychainError) -> Item {
        guard case .added(let item) = try authentication.perform(.add(request), over: connection) else {
            throw .unexpectedReply
        }
        return item
    }

    /// - Throws: `.duplicateItem` if what is to be added is there already, as far as that can be seen without asking
    ///   anybody.
    func requireAbsence(of request: AddRequest) throws(KeychainError) {
        guard try has(request.queryForExisting) else { return }
        throw KeychainError(
            .duplicateItem,
            message: "there is such a \(request.itemClass.title) already in access group \(request.accessGroup ?? ""); "
                + "--update gives it a new secret")
    }

    /// Adds an item, or gives the one that has its unique attributes the new secret and attributes.
    func addOrUpdate(_ request: AddRequest) throws(KeychainError) -> Item {
        // Another process may add or delete the item between our two requests.
        for _ in 0..<10 {
            do throws(KeychainError) {
                return try add(request)
            } catch  where error.code == .duplicateItem {}
            do throws(KeychainError) {
                let query = request.queryForExisting
                try update(UpdateRequest(query, changes: request.changesForExisting))
                if let item = try items(of: query, wantsSecrets: false).first { return item }
            } catch  where error.code == .itemNotFound {}
        }
        throw KeychainError(.notAvailable, message: "another program keeps adding and deleting the item; try again")
    }

    func update(_ request: UpdateRequest) throws(KeychainError) {
        _ = try authentication.perform(.update(request), over: connection)
    }

    /// - Returns: false if the item is another one by now, or gone; then nothing was changed.
    func replaceSecret(of item: Item, with secret: SecretBytes) throws(KeychainError) -> Bool {
        var query = ItemQuery(item.itemClass)
        query.persistentReference = item.persistentReference
        query.synchronizable = .any
        var changes = ItemChanges()
        changes.secret = secret
        let request = TransactionRequest(
            seen: [SeenItems(query, versions: [ItemVersion(item)], hasSecrets: false)],
            steps: [.update(UpdateRequest(query, changes: changes))])
        guard case .committed(let isDone) = try authentication.perform(.transaction(request), over: connection) else {
            throw .unexpectedReply
        }
        return isDone
    }

    /// - Returns: how many items were deleted.
    func delete(_ query: ItemQuery) throws(KeychainError) -> Int {
        guard case .deleted(let count) = try authentication.perform(.delete(query), over: connection) else {
            throw .unexpectedReply
        }
        return count
    }
}

extension AddRequest {
    fileprivate var changesForExisting: ItemChanges {
        var changes = ItemChanges()
        changes.secret = secret
        changes.accessControl = accessControl
        changes.expires = expires
        for (attribute, value) in attributes.entries
        where AttributeTable.table(for: itemClass)[attribute]?.uniquenessDefault == nil {
            changes.attributes[attribute] = value
        }
        return changes
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

    static var unexpectedReply: KeychainError {
        KeychainError(.internalFailure, message: "the keychain answered something else than was asked")
    }
}
