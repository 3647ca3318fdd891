internal import KeychainCrypto
internal import KeychainModel

/// The readable part of a home: its token hides the group and the synchronizability.
struct HomeKind {
    var itemClass: ItemClass
    var tier: IndexTier
    var generation: UInt32
}

extension StoreConnection {
    /// The homes of a class and tier that a search may look through.
    func homes(
        of itemClass: ItemClass, tier: IndexTier, generation: UInt32, in scope: GroupScope,
        synchronizable: ItemQuery.Synchronizable, _ indexer: Indexer
    ) throws -> [Int64] {
        guard case .some(let groups) = scope else {
            return try homes(of: itemClass, tier: tier).filter { $0.generation == generation }.map(\.id)
        }
        var homes: [Int64] = []
        for group in groups {
            for isSynchronizable in [false, true] where synchronizable.matches(isSynchronizable) {
                let home = Home(
                    itemClass: itemClass, tier: tier, generation: generation, accessGroup: group,
                    synchronizable: isSynchronizable)
                if let id = try self.home(home, indexer) { homes.append(id) }
            }
        }
        return homes
    }

    private func home(_ home: Home, _ indexer: Indexer) throws -> Int64? {
        // A write may see homes that its own roll-back removes, so it neither asks nor fills the cache.
        guard let highestID = newestHome?.id else { return try findHome(home, indexer) }
        switch homes.lookUp(home, highestID: highestID) {
        case .found(let id): return id
        case .absent: return nil
        case .unknown:
            let id = try findHome(home, indexer)
            homes.remember(id, for: home, highestID: highestID)
            return id
        }
    }

    func findHome(_ home: Home, _ indexer: Indexer) throws -> Int64? {
        let statement = try statement(.homeByToken)
        try statement.bind(indexer.token(of: home), at: 1)
        return try statement.number()
    }

    /// The class, tier and generation of a home.
    func kind(ofHome id: Int64) throws -> HomeKind? {
        let statement = try statement(.homeKind)
        try statement.bind(id, at: 1)
        defer { statement.reset() }
        guard try statement.step(),
            let itemClass = UInt8(exactly: statement.integer(0)).flatMap(ItemClass.init(number:)),
            let tier = UInt8(exactly: statement.integer(1)).flatMap(IndexTier.init(rawValue:)),
            let generation = UInt32(exactly: statement.integer(2))
        else { return nil }
        return HomeKind(itemClass: itemClass, tier: tier, generation: generation)
    }

    /// Every home of a class and tier, of any group and synchronizability.
    private func homes(of itemClass: ItemClass, tier: IndexTier) throws -> [(id: Int64, generation: UInt32)] {
        let statement = try statement(.homesByKind)
        try statement.bind(Int64(itemClass.number), at: 1)
        try statement.bind(Int64(tier.rawValue), at: 2)
        defer { statement.reset() }
        var homes: [(id: Int64, generation: UInt32)] = []
        while try statement.step() { homes.append((statement.integer(0), UInt32(exactly: statement.integer(1)) ?? 0)) }
        return homes
    }

    /// Whether there is any item of a class in a tier.
    ///
    /// - Parameter isGone: Whether a row does not count.
    func hasItems(of itemClass: ItemClass, tier: IndexTier, besides isGone: (StoredRow) -> Bool) throws -> Bool {
        for home in try homes(of: itemClass, tier: tier) {
            var next = try firstItem(inHome: home.id, from: 1)
            while let id = next {
                if try withRow(id, isGone) == false { return true }
                next = id < .max ? try firstItem(inHome: home.id, from: id + 1) : nil
            }
        }
        return false
    }

    /// The home's row, made if it is the first item of its kind.
    func makeHome(_ home: Home, _ indexer: Indexer) throws -> Int64 {
        if let id = try findHome(home, indexer) { return id }
        let statement = try statement(.insertHome)
        try statement.bind(Int64(home.itemClass.number), at: 1)
        try statement.bind(Int64(home.tier.rawValue), at: 2)
        try statement.bind(Int64(home.generation), at: 3)
        try statement.bind(indexer.token(of: home), at: 4)
        return try statement.inserted()
    }
}

extension Indexer {
    fileprivate func token(of home: Home) -> IndexToken {
        homeToken(
            itemClass: home.itemClass, accessGroup: home.accessGroup, synchronizable: home.synchronizable)
    }
}
