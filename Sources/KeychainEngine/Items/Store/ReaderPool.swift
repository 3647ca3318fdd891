internal import KeychainModel
internal import KeychainSystem

/// Idle readers. The pool makes as many as there are threads that read at once.
final class ReaderPool: Sendable {
    /// Further readers are closed after use: a burst of threads should not hold files open for ever.
    private static let mostIdle = 8

    private let open: @Sendable () throws(KeychainError) -> SQLiteConnection
    private let idle: BriefLock<[StoreConnection]>

    init(_ first: SQLiteConnection, _ open: @escaping @Sendable () throws(KeychainError) -> SQLiteConnection) {
        self.open = open
        idle = BriefLock([StoreConnection(first)])
    }

    func take() throws(KeychainError) -> StoreConnection {
        if let reader = idle.withLock({ $0.popLast() }) { return reader }
        return StoreConnection(try open())
    }

    func give(_ reader: StoreConnection) {
        idle.withLock { if $0.count < Self.mostIdle { $0.append(reader) } }
    }
}
