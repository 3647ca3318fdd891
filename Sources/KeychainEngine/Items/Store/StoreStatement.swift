/// The statements of a store, each prepared once for each connection.
enum StoreStatement: Int, CaseIterable {
    // Transactions.
    case begin, commit
    case savepoint, releaseSavepoint, rollBackToSavepoint
    case schemaVersion
    case freePageCount
    // Searching.
    case newestHome
    case homeByToken
    case homesByKind
    case homeKind
    case itemByEntry
    case itemByHome
    case itemByUUID
    case itemByUniqueness
    case row
    case rowWithoutSecret
    case rowSize
    case sealingGeneration
    case fileMark
    case removal
    // Writing.
    case insertHome
    case insertItem
    case updateItem
    case deleteItem
    case insertEntry
    case deleteEntry
    case setSealingGeneration
    case setFileMark
    case setRemoval, forgetRemoval
    case rewrapItem
    case deleteOldHomes
    case nameStore
    // Taking stock.
    case nextItem
    case nextOutdatedItem
    case accessControls, itemsByAccessControl
    case itemCount
    case itemCounts, itemCountInHome
    case strayEntries
    // Expiry.
    case expiredItems
    case passedExpiries
    case nextExpiries
    case sightings
    case setSightings, forgetSightings
    case expiryPosition, setExpiryPosition, forgetExpiryPosition
    case giveUpName

    /// The statements whose cost must not grow with the number of items.
    static let searches: [StoreStatement] = [
        .newestHome, .homeByToken, .homeKind, .itemByEntry, .itemByHome, .itemByUUID, .itemByUniqueness, .row,
        .rowWithoutSecret, .rowSize, .sealingGeneration, .nextItem, .nextOutdatedItem, .expiredItems, .passedExpiries,
        .nextExpiries, .sightings, .expiryPosition,
    ]

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .savepoint: "SAVEPOINT write"
        case .releaseSavepoint: "RELEASE write"
        case .rollBackToSavepoint: "ROLLBACK TO write"
        case .schemaVersion: "PRAGMA user_version"
        case .freePageCount: "PRAGMA freelist_count"
        case .newestHome: "SELECT id, generation FROM home WHERE id >= 0 ORDER BY id DESC LIMIT 1"
        case .homeByToken: "SELECT id FROM home WHERE token = ?"
        case .homesByKind: "SELECT id, generation FROM home WHERE class = ? AND tier = ?"
        case .homeKind: "SELECT class, tier, generation FROM home WHERE id = ?"
        case .itemByEntry: "SELECT item FROM entry WHERE token = ? AND item >= ? ORDER BY item LIMIT 1"
        case .itemByHome: "SELECT id FROM item WHERE home = ? AND id >= ? ORDER BY id LIMIT 1"
        case .itemByUUID: "SELECT id FROM item WHERE uuid = ?"
        case .itemByUniqueness: "SELECT id FROM item WHERE uniqueness = ?"
        case .row: StoredRow.select
        case .rowWithoutSecret: StoredRow.selectWithoutSecret
        case .rowSize: RowSize.select
        case .sealingGeneration: "SELECT value FROM store WHERE key = 'generation'"
        case .fileMark: "SELECT value FROM store WHERE key = 'files'"
        case .setFileMark: "INSERT OR IGNORE INTO store (key, value) VALUES ('files', 1)"
        case .nameStore: "INSERT OR IGNORE INTO store (key, value) VALUES ('id', ?), ('generation', ?)"
        case .removal: "SELECT value FROM store WHERE key = 'removal'"
        case .setRemoval: "INSERT OR REPLACE INTO store (key, value) VALUES ('removal', ?)"
        case .forgetRemoval: "DELETE FROM store WHERE key = 'removal'"
        case .setSealingGeneration: "UPDATE store SET value = ? WHERE key = 'generation'"
        case .rewrapItem:
            """
            UPDATE item SET home = ?, generation = ?, uniqueness = ?, tokens = ?, metadata_key = ?, secret_key = ?
            WHERE id = ?
            """
        case .deleteOldHomes:
            "DELETE FROM home WHERE generation < ? AND NOT EXISTS (SELECT 1 FROM item WHERE home = home.id)"
        case .nextOutdatedItem: "SELECT id FROM item WHERE id >= ? AND generation <> ? ORDER BY id LIMIT 1"
        case .accessControls: "SELECT DISTINCT access FROM item"
        case .itemsByAccessControl: "SELECT id FROM item WHERE access = ?"
        case .itemCount: "SELECT count(*) FROM item"
        case .insertHome: "INSERT INTO home (class, tier, generation, token) VALUES (?, ?, ?, ?) RETURNING id"
        case .insertItem:
            """
            INSERT INTO item (uuid, home, generation, version, uniqueness, access, tokens, metadata_key, metadata,
                secret_key, secret, expires)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
            """
        case .updateItem:
            """
            UPDATE item SET home = ?, generation = ?, version = ?, uniqueness = ?, access = ?, tokens = ?, metadata_key = ?,
                metadata = ?, secret_key = ?, secret = ?, expires = ?
            WHERE id = ?
            """
        case .deleteItem: "DELETE FROM item WHERE id = ?"
        case .insertEntry: "INSERT OR IGNORE INTO entry (token, item) VALUES (?, ?)"
        case .deleteEntry: "DELETE FROM entry WHERE token = ? AND item = ?"
        case .nextItem: "SELECT id FROM item WHERE id >= ? ORDER BY id LIMIT 1"
        case .itemCounts:
            """
            SELECT home.class, count(*) FROM item JOIN home ON home.id = item.home
            WHERE item.expires IS NULL OR typeof(item.expires) <> 'blob' OR item.expires > ? GROUP BY home.class
            """
        case .itemCountInHome:
            """
            SELECT count(*) FROM item WHERE home = ? AND (expires IS NULL OR typeof(expires) <> 'blob' OR expires > ?)
            """
        case .expiredItems:
            """
            SELECT id, expires FROM item
            WHERE expires IS NOT NULL AND expires <= ? AND (expires, id) > (?, ?) AND typeof(expires) = 'blob'
            ORDER BY expires, id LIMIT ?
            """
        case .passedExpiries:
            "SELECT expires FROM item WHERE expires IS NOT NULL AND expires <= ? ORDER BY expires DESC LIMIT 100"
        case .nextExpiries:
            "SELECT expires FROM item WHERE expires IS NOT NULL AND expires > ? ORDER BY expires LIMIT 100"
        case .sightings: "SELECT value FROM store WHERE key = 'sightings'"
        case .setSightings: "INSERT OR REPLACE INTO store (key, value) VALUES ('sightings', ?)"
        case .forgetSightings: "DELETE FROM store WHERE key IN ('sightings', 'expired')"
        case .expiryPosition: "SELECT value FROM store WHERE key = 'expired'"
        case .setExpiryPosition: "INSERT OR REPLACE INTO store (key, value) VALUES ('expired', ?)"
        case .forgetExpiryPosition: "DELETE FROM store WHERE key = 'expired'"
        case .giveUpName: "UPDATE item SET uniqueness = randomblob(16) WHERE id = ?"
        case .strayEntries: "SELECT count(*) FROM entry WHERE NOT EXISTS (SELECT 1 FROM item WHERE id = entry.item)"
        }
    }
}
