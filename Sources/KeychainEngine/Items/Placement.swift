internal import KeychainCrypto
internal import KeychainModel

/// Where an item is listed, and what else may stand there.
struct Placement {
    let indexer: Indexer
    let home: Home
    /// Under which another item with the same unique attributes may be there: the same under every index key in use,
    /// since an item may exist only once in both tiers.
    let rivals: [IndexToken]
    /// Items that nobody can tell it from, because the store was not unlocked since the system started.
    let isUncertain: Bool

    /// - Throws: `.interactionNotAllowed` if the item's own tier is out of reach.
    init(_ item: Item, keys: KeySession) throws(KeychainError) {
        home = item.home(generation: keys.generation)
        guard let indexers = try keys.indexers(for: home.tier), let newest = indexers.first else {
            throw keys.lockedError(.afterFirstUnlock)
        }
        indexer = newest.indexer
        let others = try keys.indexers(for: home.tier.other)
        rivals = (indexers + (others ?? [])).map { $0.indexer.uniquenessToken(of: item) }
        isUncertain = others == nil
    }
}
