internal import FoundationEssentials
internal import Glibc
internal import KeychainModel

extension Engine {
    /// A caller that holds groups alone is told of no item of another group, neither by a number nor by a size.
    func status(for caller: Caller) throws -> StoreStatus {
        let scope = AccessPolicy(caller: caller).visibleScope
        let version = try store.version()
        return StoreStatus(
            storePath: configuration.storeDirectory.path, storeID: store.storeID, schemaVersion: version,
            knownSchemaVersion: configuration.schema.version, leastRelease: configuration.schema.release(of: version),
            itemCounts: try items().counts(in: scope), bytesOnDisk: scope.isAll ? bytesOnDisk() : 0,
            deviceKey: configuration.deviceKeyProvider.origin,
            keyMemory: try keys.begin().snapshot.memoryKind, lock: try keys.status())
    }

    private func bytesOnDisk() -> Int64 {
        ["", "-wal"].reduce(0) { total, suffix in
            // The log is missing while no process writes, which is no failure.
            var status = stat()
            return total + (stat(store.url.path + suffix, &status) == 0 ? Int64(status.st_size) : 0)
        }
    }
}
