package import KeychainEngine

extension StoreSchema {
    /// The tables as a later version might have them: what a program of today meets after one of tomorrow, and the other
    /// way round. It touches every row, so that half of it would show.
    package static let next = StoreSchema(steps: current.steps + [ofTests])

    /// The same tables, made only when something needs them.
    package static let nextOnNeed = StoreSchema(steps: next.steps, base: current.base)

    private static let ofTests = Step(
        "of tests", release: "9.0",
        sql: """
            ALTER TABLE item ADD COLUMN later INTEGER NOT NULL DEFAULT 0;
            UPDATE item SET later = id;
            CREATE TABLE later (item INTEGER PRIMARY KEY, uuid BLOB NOT NULL);
            INSERT INTO later SELECT id, uuid FROM item;
            """)
}
