internal import Glibc
package import KeychainModel
internal import Synchronization

/// The closures that decide about items at the moment, by their threads.
///
/// Such a closure stays on one thread, in the blocking form and in the form for tasks. A task-local cannot be bound in
/// the blocking form, which may run outside of a task.
private enum DecidingClosures {
    struct Subject {
        var connection: ObjectIdentifier
        var query: ItemQuery
        /// The beginning of the accounts.
        var prefix: String
    }

    static let running = Mutex<[pthread_t: [Subject]]?>(nil)
}

extension Connection {
    /// Runs a closure that decides about the items of a query, and that is called again if one of them changes meanwhile.
    ///
    /// A call that its thread makes about these items is refused until it ends (``Asking/isOfClosure``).
    ///
    /// - Parameter prefix: The beginning of the items' accounts.
    package func deciding<R, E: Error>(
        about query: ItemQuery, prefix: String = "", _ closure: () throws(E) -> R
    ) throws(E) -> R {
        let subject = DecidingClosures.Subject(connection: ObjectIdentifier(self), query: query, prefix: prefix)
        let thread = pthread_self()
        DecidingClosures.running.withLock { running in
            var subjects = running ?? [:]
            subjects[thread, default: []].append(subject)
            running = subjects
        }
        defer {
            DecidingClosures.running.withLock { running in
                running?[thread]?.removeLast()
                if running?[thread]?.isEmpty == true { running?[thread] = nil }
            }
        }
        return try closure()
    }

    /// - Throws: `.parameter` if a closure of this thread decides about some of the items.
    package func requireUndecided(_ queries: @autoclosure () -> [ItemQuery]) throws(KeychainError) {
        let subjects = DecidingClosures.running.withLock { $0?[pthread_self()] }
        guard let subjects else { return }
        let queries = queries()
        let isDecided = subjects.contains { subject in
            subject.connection == ObjectIdentifier(self)
                && queries.contains { $0.mayShareItems(with: subject.query) && $0.mayBegin(with: subject.prefix) }
        }
        guard isDecided else { return }
        throw KeychainError(
            .parameter,
            message: "the closure of a transaction or of modify called the keychain itself about the items that it "
                + "decides about. Such a call is no part of the change, and would be made again with each attempt: "
                + "read and change them through what the closure is given, or call before it")
    }
}

extension ItemQuery {
    /// Whether an item can match both queries.
    fileprivate func mayShareItems(with other: ItemQuery) -> Bool {
        guard itemClass == other.itemClass else { return false }
        if let accessGroup, let group = other.accessGroup, !accessGroup.isSameGroup(as: group) { return false }
        if synchronizable != other.synchronizable && synchronizable != .any && other.synchronizable != .any {
            return false
        }
        return attributes.entries.allSatisfy { other.attributes[$0.attribute].map($0.value.matches) ?? true }
    }

    fileprivate func mayBegin(with prefix: String) -> Bool {
        guard case .text(let account) = attributes[.account] else { return true }
        return account.utf8.starts(with: prefix.utf8)
    }
}

extension Request {
    /// The items that the request reads or changes.
    var queries: [ItemQuery] {
        switch self {
        case .authenticated(_, let request): request.queries
        case .find(let request): [request.query]
        case .add(let request), .makeKey(let request): [ItemQuery(request)]
        case .update(let request): request.queries
        case .delete(let query): [query]
        case .transaction(let request): request.seen.map(\.query) + request.steps.flatMap(\.queries)
        default: []
        }
    }
}

extension TransactionRequest.Step {
    fileprivate var queries: [ItemQuery] {
        switch self {
        case .add(let request), .put(let request): [ItemQuery(request)]
        case .update(let request): request.queries
        case .delete(let query): [query]
        }
    }
}

extension UpdateRequest {
    /// The items as they are, and as they become: an update may move them.
    fileprivate var queries: [ItemQuery] {
        var changed = query
        for (attribute, value) in changes.attributes.entries { changed.attributes[attribute] = value }
        changed.accessGroup = changes.accessGroup ?? query.accessGroup
        if let synchronizable = changes.synchronizable { changed.synchronizable = synchronizable ? .yes : .no }
        return [query, changed]
    }
}

extension ItemQuery {
    /// The item that a request adds.
    fileprivate init(_ request: AddRequest) {
        self.init(request.itemClass)
        attributes = request.attributes
        accessGroup = request.accessGroup
        synchronizable = request.synchronizable ? .yes : .no
    }
}
