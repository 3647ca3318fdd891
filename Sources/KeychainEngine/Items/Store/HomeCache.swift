package import KeychainModel

/// Where items of one class, access group and synchronizability are listed, per index tier.
package struct Home: Sendable {
    var itemClass: ItemClass
    package var tier: IndexTier
    /// Of the index key that its token is made with.
    package var generation: UInt32
    var accessGroup: String
    var synchronizable: Bool
}

extension Home: Hashable {
    package static func == (a: Home, b: Home) -> Bool {
        a.accessGroup.isSameGroup(as: b.accessGroup) && a.synchronizable == b.synchronizable
            && a.itemClass == b.itemClass && a.tier == b.tier && a.generation == b.generation
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(accessGroup)
        hasher.combine(itemClass)
        hasher.combine(tier)
    }
}

/// Which homes a store has, as far as one reader has looked. Each has its own, so that none waits for another: a lock
/// here was what threads of a daemon spent their time at.
///
/// Ids only grow, and a home is removed only with the keys that made its token, so what was found stays true, and "there is none"
/// stays true until the highest id changes.
final class HomeCache {
    /// Whoever asks for many groups that are not there must not make it grow for ever.
    private static let mostAbsent = 4_096

    private var found: [Home: Int64] = [:]
    private var absent: Set<Home> = []
    private var highestID: Int64 = 0

    enum Answer { case found(Int64), absent, unknown }

    /// - Parameter highestID: The highest id of the snapshot that is being read.
    func lookUp(_ home: Home, highestID: Int64) -> Answer {
        if let id = found[home] { return .found(id) }
        return self.highestID == highestID && absent.contains(home) ? .absent : .unknown
    }

    func remember(_ id: Int64?, for home: Home, highestID: Int64) {
        if let id { return found[home] = id }
        if self.highestID != highestID || absent.count >= Self.mostAbsent {
            absent.removeAll()
            self.highestID = highestID
        }
        absent.insert(home)
    }
}
