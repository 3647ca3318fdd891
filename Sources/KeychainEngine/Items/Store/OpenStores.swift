package import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// The stores that this process has open: their files must not be opened and closed beside SQLite (``FileBytes``).
package enum OpenStores {
    private static let counts = Mutex<[StorePlace: Int]>([:])

    /// Marks a store as open, for as long as the mark lives.
    final class Mark: Sendable {
        private let place: StorePlace

        fileprivate init(_ place: StorePlace) { self.place = place }

        deinit { OpenStores.remove(place) }
    }

    /// - Parameter inspect: Run first, if this process does not have the store open yet; meanwhile no other thread
    ///   opens it.
    static func mark(
        _ directory: URL, afterInspecting inspect: () throws(KeychainError) -> Void
    ) throws(KeychainError) -> Mark {
        guard let place = StorePlace(directory) else { throw KeychainError(file: "open", directory, errno) }
        try counts.withLock { counts throws(KeychainError) in
            if counts[place] == nil { try inspect() }
            counts[place, default: 0] += 1
        }
        return Mark(place)
    }

    package static func contains(_ directory: URL) -> Bool {
        guard let place = StorePlace(directory) else { return false }
        return counts.withLock { $0[place] != nil }
    }

    private static func remove(_ place: StorePlace) {
        counts.withLock { counts in
            let left = (counts[place] ?? 1) - 1
            counts[place] = left > 0 ? left : nil
        }
    }
}
