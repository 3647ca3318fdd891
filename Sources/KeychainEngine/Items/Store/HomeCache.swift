internal import KeychainModel
internal import Synchronization

/// Where items of one class, access group and synchronizability are listed, per index tier.
struct Home: Sendable {
    var itemClass: ItemClass
    var tier: IndexTier
    /// Of the index key that its token is made with.
    var generation: UInt32
    var accessGroup: String
    var synchronizable: Bool
}

extension Home: Hashable {
    static func == (a: Home, b: Home) -> Bool {
        a.accessGroup.isSameGroup(as: b.accessGroup) && a.synchronizable == b.synchronizable
            && a.itemClass == b.itemClass && a.tier == b.tier && a.generation == b.generation
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(accessGroup)
        hasher.combine(itemClass)
        hasher.combine(tier)
    }
}

/// Which homes a store has, as far as this process has looked.
///
/// Ids only grow, and a home is removed only with the keys that made its token, so what was found stays true, and "there is none"
/// stays true until the highest id changes.
final class HomeCache: Sendable {
    private struct State {
        var found: [Home: Int64] = [:]
        var absent: Set<Home> = []
        var highestID: Int64 = 0
    }
    enum Answer { case found(Int64), absent, unknown }

    private let state = Mutex(State())

    /// - Parameter highestID: The highest id of the snapshot that is being read.
    func lookUp(_ home: Home, highestID: Int64) -> Answer {
        state.withLock { state in
            if let id = state.found[home] { return .found(id) }
            return state.highestID == highestID && state.absent.contains(home) ? .absent : .unknown
        }
    }

    func remember(_ id: Int64?, for home: Home, highestID: Int64) {
        state.withLock { state in
            if let id { return state.found[home] = id }
            if state.highestID != highestID {
                state.absent.removeAll()
                state.highestID = highestID
            }
            state.absent.insert(home)
        }
    }
}
