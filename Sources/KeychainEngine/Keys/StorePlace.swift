internal import Foundation
internal import Glibc

/// The directory that a store is in, by what the kernel calls it: a copy is in another one, whatever its path.
struct StorePlace: Sendable, Hashable {
    var device: UInt64
    var inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// nil if it is not there, or cannot be looked at.
    init?(_ directory: URL) {
        var information = stat()
        guard stat(directory.path, &information) == 0 else { return nil }
        self.init(device: UInt64(information.st_dev), inode: UInt64(information.st_ino))
    }

    var name: String { String(device, radix: 16) + "-" + String(inode, radix: 16) }
}
