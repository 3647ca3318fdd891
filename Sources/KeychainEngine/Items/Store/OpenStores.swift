package import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

/// The stores that this process has open: their files must not be opened and closed beside SQLite (``FileBytes``).
package enum OpenStores {
    /// A directory, whatever its path.
    fileprivate struct Place: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    private static let counts = Mutex<[Place: Int]>([:])

    /// Marks a store as open, for as long as the mark lives.
    final class Mark: Sendable {
        private let place: Place

        fileprivate init(_ place: Place) { self.place = place }

        deinit { OpenStores.remove(place) }
    }

    /// - Parameter inspect: Run first, if this process does not have the store open yet; meanwhile no other thread
    ///   opens it.
    static func mark(
        _ directory: URL, afterInspecting inspect: () throws(KeychainError) -> Void
    ) throws(KeychainError) -> Mark {
        let place = try Place(directory)
        let result = counts.withLock { counts -> Result<Void, KeychainError> in
            do throws(KeychainError) {
                if counts[place] == nil { try inspect() }
                counts[place, default: 0] += 1
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return Mark(place)
    }

    package static func contains(_ directory: URL) -> Bool {
        guard let place = try? Place(directory) else { return false }
        return counts.withLock { $0[place] != nil }
    }

    private static func remove(_ place: Place) {
        counts.withLock { counts in
            let left = (counts[place] ?? 1) - 1
            counts[place] = left > 0 ? left : nil
        }
    }
}

extension OpenStores.Place {
    fileprivate init(_ directory: URL) throws(KeychainError) {
        var information = stat()
        guard stat(directory.path, &information) == 0 else { throw KeychainError(file: "open", directory, errno) }
        device = UInt64(information.st_dev)
        inode = UInt64(information.st_ino)
    }
}
