internal import KeychainCrypto

/// A sealed item, before it is known which row it will have.
struct SealedItem {
    let place: Placement
    private let item: OpenedRow
    private let halves: (metadata: SealedHalf, secret: SealedHalf?)

    init(_ item: OpenedRow, _ place: Placement, halves: (metadata: SealedHalf, secret: SealedHalf?)) {
        self.item = item
        self.place = place
        self.halves = halves
    }

    func row(inHome home: Int64) -> SealedRow {
        SealedRow(
            uuid: item.uuid, home: home, generation: place.home.generation, version: item.version,
            uniqueness: place.uniqueness, accessControl: item.accessControl,
            tokens: place.indexer.tokens(of: item.itemClass, attributes: item.metadata.attributes),
            metadata: halves.metadata, secret: halves.secret)
    }
}
