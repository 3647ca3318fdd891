internal import FoundationEssentials
internal import Glibc
internal import KeychainModel

extension Engine {
    func status() throws -> StoreStatus {
        let version = try store.version()
        return StoreStatus(
            storePath: configuration.storeDirectory.path, storeID: store.storeID, schemaVersion: version,
            knownSchemaVersion: configuration.schema.version, leastRelease: configuration.schema.release(of: version),
            itemCounts: try items().counts(), bytesOnDisk: bytesOnDisk(),
            deviceKey: configuration.deviceKeyProvider.origin,
            keyMemory: try keys.begin().snapshot.memoryKind, lock: try keys.status())
    }

    func compact(for caller: Caller) throws {
        try AccessPolicy(caller: caller).requireOwner("compacts it")
        try store.compact()
    }

    private func bytesOnDisk() -> Int64 {
        ["", "-wal"].reduce(0) { total, suffix in
            // The log is missing while no process writes, which is no failure.
            var status = stat()
            return total + (stat(store.url.path + suffix, &status) == 0 ? Int64(status.st_size) : 0)
        }
    }
}
