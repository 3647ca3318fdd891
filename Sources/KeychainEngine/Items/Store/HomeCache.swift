internal import KeychainModel
internal import Synchronization

/// Where items of one class, access group and synchronizability are listed, per index tier.
struct Home: Sendable, Hashable {
    var itemClass: ItemClass
    var tier: IndexTier
    var accessGroup: String
    var synchronizable: Bool
}

/// Which homes a store has, as far as this process has looked.
///
/// A home is never removed and ids only grow, so what was found stays true for ever, and "there is none"
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
