package import KeychainModel

/// The place in the index of the items of one class, access group and synchronizability, per index tier.
package struct Home: Sendable {
    var itemClass: ItemClass
    package var tier: IndexTier
    /// The generation of the index key that makes the home's token.
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

/// The homes that one reader has looked up. Each reader has its own cache, so that no reader waits for another: threads
/// of a daemon spent most of their time at a shared lock.
///
/// Ids only grow, and a home is removed only with the keys that made its token. So a found home stays valid, and a
/// missing one stays missing until the highest id changes.
final class HomeCache {
    /// The limit keeps the cache small if a caller asks for many groups that do not exist.
    private static let mostAbsent = 4_096

    private var found: [Home: Int64] = [:]
    private var absent: Set<Home> = []
    private var highestID: Int64 = 0

    enum Answer { case found(Int64), absent, unknown }

    /// - Parameter highestID: The highest id of the present snapshot.
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
