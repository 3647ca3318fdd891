internal import KeychainModel

extension TransactionRequest: WireMessage {
    func write(to message: inout MessageWriter) {
        for items in seen { message.add(1, message: items) }
        for step in steps { message.add(2, message: step) }
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            seen: try message.list(1, &tail, most: Self.mostSeen, "looks"),
            steps: try message.list(2, &tail, most: Self.mostSteps, "changes"))
    }
}

extension TransactionRequest.Step: WireMessage {
    private enum Kind: Int { case add = 1, put, update, delete }

    func write(to message: inout MessageWriter) {
        func add(_ kind: Kind, _ content: some WireMessage) { message.add(kind.rawValue, message: content) }
        switch self {
        case .add(let request): add(.add, request)
        case .put(let request): add(.put, request)
        case .update(let request): add(.update, request)
        case .delete(let query): add(.delete, query)
        }
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        guard let kind: Kind = message.kind(), let content: MessageReader = try message.value(kind.rawValue) else {
            throw KeychainError(.parameter, message: "a transaction has a change of a kind that is not known here")
        }
        switch kind {
        case .add: self = .add(try AddRequest(content, &tail))
        case .put: self = .put(try AddRequest(content, &tail))
        case .update: self = .update(try UpdateRequest(content, &tail))
        case .delete: self = .delete(try ItemQuery(content, &tail))
        }
    }
}

extension SeenItems: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, message: query)
        for version in versions { message.add(2, message: version) }
        message.add(3, hasSecrets)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            try ItemQuery(try required("query", message.value(1)), &tail),
            versions: try message.list(2, &tail, most: Self.mostVersions, "versions of items"),
            hasSecrets: try message.value(3) ?? false)
    }
}

extension ItemVersion: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, identifier)
        message.add(2, modified)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(identifier: try required("identifier", message.value(1)), modified: try message.value(2) ?? 0)
    }
}
