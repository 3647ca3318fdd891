internal import KeychainModel
internal import Synchronization

/// Tells subscribers which items have changed, by class and access group, and in which order.
///
/// The feed knows the changes made through this engine, and none of other processes.
package final class ChangeFeed: Sendable {
    /// More groups than this count as one.
    private static let mostTopics = 4_096

    struct Topic {
        var itemClass: ItemClass
        var group: String
    }

    private struct State {
        var revision: UInt64 = 0
        /// The revision of the last change in each group.
        var topics: [Topic: UInt64] = [:]
        /// The revision of the last change that may have been in any group.
        var anywhere: [ItemClass: UInt64] = [:]
    }

    private let state = Mutex(State())
    private let signal: ChangeSignal

    init(_ signal: ChangeSignal) { self.signal = signal }

    var revision: UInt64 { state.withLock { $0.revision } }

    /// - Parameter groups: nil if the change may be in any group.
    func note(_ classes: [ItemClass], in groups: [String]?) {
        state.withLock { state in
            state.revision += 1
            for itemClass in classes {
                guard let groups, state.topics.count + groups.count <= Self.mostTopics else {
                    state.topics = state.topics.filter { $0.key.itemClass != itemClass }
                    state.anywhere[itemClass] = state.revision
                    continue
                }
                for group in groups { state.topics[Topic(itemClass: itemClass, group: group)] = state.revision }
            }
        }
        signal.give()
    }

    func note(_ topics: Set<Topic>) {
        for topic in topics { note([topic.itemClass], in: [topic.group]) }
    }

    /// The changes after a revision that a caller may know of, and the present revision.
    func changes(after revision: UInt64, for caller: Caller) -> (changes: [StoreChange], revision: UInt64) {
        state.withLock { state in
            var changed = state.topics.filter { $0.value > revision }.map(\.key)
            for (itemClass, latest) in state.anywhere where latest > revision {
                changed += caller.groups.map { Topic(itemClass: itemClass, group: $0) }
                // The owner may use every group, and no list of all groups exists.
                if caller.authority == .owner { changed.append(Topic(itemClass: itemClass, group: "")) }
            }
            let visible = Set(changed).filter { caller.authority == .owner || caller.groups.containsGroup($0.group) }
            return (visible.map { .items($0.itemClass, accessGroup: $0.group) }, state.revision)
        }
    }
}

extension ChangeFeed.Topic: Hashable {
    init(_ item: Item) { self.init(itemClass: item.itemClass, group: item.accessGroup) }

    static func == (a: Self, b: Self) -> Bool { a.itemClass == b.itemClass && a.group.isSameGroup(as: b.group) }

    /// Names with the same bytes are equal to Swift too, so its own hash will do.
    func hash(into hasher: inout Hasher) {
        hasher.combine(itemClass)
        hasher.combine(group)
    }
}

// MARK: - Requests

extension ChangeFeed {
    /// Notes the possible changes of a request that was carried out. The group of a locked item is unknown, so every
    /// group that the caller could mean counts as changed.
    func note(_ request: Request, _ reply: Reply, from caller: Caller) {
        switch (request, reply) {
        case (_, .added(let item)): note([item.itemClass], in: [item.accessGroup])
        case (.update(let request), _): note(.update(request), from: caller)
        case (.delete(let query), _): note(.delete(query), from: caller)
        case (.transaction(let request), .committed(true)): for step in request.steps { note(step, from: caller) }
        case (.importItems(let request), _) where !request.isDryRun: note(ItemClass.stored, in: nil)
        case (.passcode(.remove), _), (.expiredItems, .deleted), (.removeMoved, .committed(true)):
            note(ItemClass.stored, in: nil)
        default: break
        }
    }

    private func note(_ step: TransactionRequest.Step, from caller: Caller) {
        switch step {
        case .add(let request), .put(let request):
            let group = request.accessGroup ?? caller.groups.first { !$0.isSameGroup(as: Caller.tokenGroup) }
            note([request.itemClass], in: group.map { [$0] } ?? [])
        case .update(let request):
            note(request.query.storedClasses, in: groups(request.query, caller, request.changes.accessGroup))
        case .delete(let query): note(query.storedClasses, in: groups(query, caller))
        }
    }

    private func groups(_ query: ItemQuery, _ caller: Caller, _ target: String? = nil) -> [String]? {
        if let group = query.accessGroup { return [group] + [target].compactMap(\.self) }
        return caller.authority == .owner ? nil : caller.groups + [target].compactMap(\.self)
    }
}

extension ItemQuery {
    /// An identity is a certificate and a key.
    fileprivate var storedClasses: [ItemClass] { itemClass == .identity ? [.certificate, .key] : [itemClass] }
}
