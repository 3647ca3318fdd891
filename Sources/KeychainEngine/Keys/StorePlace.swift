internal import FoundationEssentials
internal import KeychainSystem

/// The kernel's name of the directory of a store: a copy is in another directory, whatever its path.
typealias StorePlace = FileNumber

extension StorePlace {
    /// nil if the directory is missing or not accessible.
    init?(_ directory: URL) { self.init(directory.path) }

    var name: String { String(device, radix: 16) + "-" + String(number, radix: 16) }
}
