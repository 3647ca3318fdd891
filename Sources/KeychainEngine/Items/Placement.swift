internal import KeychainCrypto
internal import KeychainModel

/// The place of an item in the index, and the entries of possible rivals.
struct Placement {
    let indexer: Indexer
    let home: Home
    /// The tokens of another item with the same unique attributes, one for every index key in use, since an item may
    /// exist only once in both tiers.
    let rivals: [IndexToken]
    /// Whether items that cannot be read may have the same unique attributes, because the store was not unlocked since
    /// the system started.
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
