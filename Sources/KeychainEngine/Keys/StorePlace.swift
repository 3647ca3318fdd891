internal import FoundationEssentials
internal import Glibc

/// The kernel's name of the directory of a store: a copy is in another directory, whatever its path.
struct StorePlace: Sendable, Hashable {
    var device: UInt64
    var inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// nil if the directory is missing or not accessible.
    init?(_ directory: URL) {
        var information = stat()
        guard stat(directory.path, &information) == 0 else { return nil }
        self.init(device: UInt64(information.st_dev), inode: UInt64(information.st_ino))
    }

    var name: String { String(device, radix: 16) + "-" + String(inode, radix: 16) }
}
