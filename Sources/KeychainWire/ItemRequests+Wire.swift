internal import FoundationEssentials
internal import KeychainModel

// The requests for items. The rules that the engine takes for granted are checked here: docs/protocol.md lists them.

extension AddRequest: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, itemClass)
        message.add(2, attributes)
        message.add(3, ifAny: accessGroup)
        message.add(4, synchronizable)
        message.add(5, ifAny: accessControl?.protection)
        message.add(6, accessControl?.flags.rawValue ?? 0)
        message.add(7, secret: secret)
        message.add(8, Data(accessControl?.extensionBytes ?? []))
        expires?.write(to: &message)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(try required(message.value(1)))
        // An identity never has a row of its own.
        guard itemClass != .identity else {
            throw KeychainError(.parameter, message: "an identity is added as a certificate and a key, one by one")
        }
        attributes = try AttributeSet(message.value(2), of: itemClass)
        accessGroup = try message.value(3)
        synchronizable = try message.value(4) ?? false
        accessControl = try message.accessControl(5, 6, 8)
        expires = try ItemExpiry(message)
        secret = try tail.take(ifAny: message.value(7))
    }
}

extension FindRequest: WireMessage {
    func write(to message: inout MessageWriter) { query.write(to: &message, wantsSecrets: wantsSecrets) }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            try ItemQuery(message, &tail), wantsSecrets: try message.value(ItemQuery.wantsSecretsNumber) ?? false)
    }
}

extension ResolveRequest: WireMessage {
    func write(to message: inout MessageWriter) {
        for level in levels { message.add(1) { content in for query in level { content.add(1, message: query) } } }
        message.add(2, amongReachable)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let levels: [Level] = try message.list(1, &tail, most: Self.mostQueries, "levels")
        self.init(levels.map(\.queries), amongReachable: try message.value(2) ?? false)
        guard queries.count <= Self.mostQueries else {
            throw KeychainError(.parameter, message: "a name has at most \(Self.mostQueries) meanings")
        }
        // No index leads to a date, and one request would look at every item once for each query.
        guard queries.allSatisfy({ $0.created == nil && $0.modified == nil && $0.expires == nil }) else {
            throw KeychainError(.parameter, message: "a name has no date")
        }
    }

    private struct Level: WireMessage {
        let queries: [ItemQuery]

        func write(to message: inout MessageWriter) { for query in queries { message.add(1, message: query) } }

        init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
            queries = try message.list(1, &tail, most: ResolveRequest.mostQueries, "queries")
        }
    }
}

extension Resolution {
    /// Writes all but the items.
    func write(to message: inout MessageWriter) {
        message.add(1, packed: matches.map { SignedNumber(Int64($0.query)) })
        message.add(2, packed: asking.map { SignedNumber(Int64($0)) })
    }

    init(_ message: MessageReader, _ items: [Item]) throws(KeychainError) {
        self.init()
        func numbers(_ number: Int, most: Int) throws(KeychainError) -> [Int] {
            let numbers: [SignedNumber] = try message.packed(number, most: most, "queries")
            guard numbers.allSatisfy({ 0..<Int64(ResolveRequest.mostQueries) ~= $0.value }) else {
                throw KeychainError(.parameter, message: "an answer names a query that was not asked")
            }
            return numbers.map { Int($0.value) }
        }
        let queries = try numbers(1, most: items.count)
        guard queries.count == items.count else {
            throw KeychainError(.parameter, message: "an item belongs to no query")
        }
        matches = zip(items, queries).map { Match($0, query: $1) }
        asking = try numbers(2, most: ResolveRequest.mostQueries)
    }
}

extension UpdateRequest: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, message: query)
        message.add(2) { changes.write(to: &$0) }
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(try ItemQuery(try required("query", message.value(1)), &tail), changes: ItemChanges())
        if let changes: MessageReader = try message.value(2) {
            self.changes = try ItemChanges(changes, of: query.itemClass, &tail)
        }
    }
}

extension ItemChanges {
    func write(to message: inout MessageWriter) {
        message.add(1, attributes)
        message.add(2, ifAny: accessGroup)
        message.add(3, ifAny: synchronizable)
        message.add(4, ifAny: accessControl?.protection)
        message.add(5, accessControl?.flags.rawValue ?? 0)
        message.add(6, ifAny: created)
        message.add(7, secret: secret)
        message.add(8, Data(accessControl?.extensionBytes ?? []))
        expires?.write(to: &message)
    }

    init(_ message: MessageReader, of itemClass: ItemClass, _ tail: inout WireTail) throws(KeychainError) {
        self.init()
        attributes = try AttributeSet(message.value(1), of: itemClass)
        accessGroup = try message.value(2)
        synchronizable = try message.value(3)
        accessControl = try message.accessControl(4, 5, 8)
        created = try message.time(6)
        expires = try ItemExpiry(message)
        secret = try tail.take(ifAny: message.value(7))
    }
}

extension ItemQuery: WireMessage {
    fileprivate static let wantsSecretsNumber = 13
    private static let expiresNumber = 14

    func write(to message: inout MessageWriter) { write(to: &message, wantsSecrets: false) }

    /// - Parameter wantsSecrets: The flag of a search; other requests have none.
    fileprivate func write(to message: inout MessageWriter, wantsSecrets: Bool) {
        message.add(1, itemClass)
        message.add(2, attributes)
        message.add(3, ifAny: accessGroup)
        message.add(4, ifAny: protection)
        message.add(5, ifAny: created)
        message.add(6, ifAny: modified)
        message.add(7, synchronizable)
        message.add(8, ifAny: persistentReference?.data)
        message.add(9, ifAny: hostOrSubdomainOf)
        switch limit {
        case .one: break
        case .all: message.add(10, true)
        case .atMost(let count): message.add(11, ifAny: Int64(count))
        }
        message.add(12, authenticationUI)
        message.add(Self.wantsSecretsNumber, wantsSecrets)
        message.add(Self.expiresNumber, ifAny: expires?.seconds)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(try required(message.value(1)))
        attributes = try AttributeSet(message.value(2), of: itemClass)
        accessGroup = try message.value(3)
        protection = try message.value(4)
        created = try message.time(5)
        modified = try message.time(6)
        synchronizable = try message.value(7) ?? .no
        if let reference: Data = try message.value(8) { persistentReference = try PersistentReference(data: reference) }
        hostOrSubdomainOf = try message.value(9)
        limit = try Limit(message)
        authenticationUI = try message.value(12) ?? .allow
        expires = try message.expiryDate(Self.expiresNumber)
    }
}

extension ItemQuery.Limit {
    private enum Kind: Int { case all = 10, atMost }

    fileprivate init(_ message: MessageReader) throws(KeychainError) {
        switch message.kind() as Kind? {
        case .all: self = try message.value(Kind.all.rawValue) ?? false ? .all : .one
        case .atMost:
            let count: Int64 = try message.value(Kind.atMost.rawValue) ?? 0
            guard count >= 0 else { throw KeychainError(.parameter, message: "a search cannot find \(count) items") }
            self = .atMost(Int(count))
        case nil: self = .one
        }
    }
}

// MARK: - Exports and imports

extension ExportRequest: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, ifAny: accessGroup)
        message.add(2, start)
        message.add(3, isMove)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            accessGroup: try message.value(1), start: try message.value(2) ?? 0, isMove: try message.value(3) ?? false)
    }
}

extension ImportRequest: WireMessage {
    func write(to message: inout MessageWriter) {
        for item in items { message.add(1, message: item) }
        message.add(2, isDryRun)
        message.add(3, isMove)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            try message.list(1, &tail, most: Self.mostItems, "items"), isDryRun: try message.value(2) ?? false,
            isMove: try message.value(3) ?? false)
    }
}

extension ExportedPart: WireMessage {
    /// Writes all but the items.
    func write(to message: inout MessageWriter) {
        message.add(1, count: leftOut.thisDeviceOnly)
        message.add(2, count: leftOut.constrained)
        message.add(3, count: leftOut.ofTokens)
        message.add(4, count: leftOut.unreadable)
        message.add(5, ifAny: next)
        message.add(6, hasFiles)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init()
        leftOut.thisDeviceOnly = try message.count(1)
        leftOut.constrained = try message.count(2)
        leftOut.ofTokens = try message.count(3)
        leftOut.unreadable = try message.count(4)
        next = try message.value(5)
        hasFiles = try message.value(6) ?? false
    }
}
