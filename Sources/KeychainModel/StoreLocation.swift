package import FoundationEssentials

/// The places of a store's files.
package struct StoreLocation: Sendable, Hashable {
    package let storeDirectory: URL
    package let deviceKeyDirectory: URL
    /// A systemd credential with the device key. It comes before the file, unless the program names a directory.
    package let deviceKeyCredential: URL?
    /// Whether missing directories may be made in a directory of another user.
    package var mayLieInOthersHomes = false

    package init(storeDirectory: URL, deviceKeyDirectory: URL, deviceKeyCredential: URL?) {
        self.storeDirectory = storeDirectory
        self.deviceKeyDirectory = deviceKeyDirectory
        self.deviceKeyCredential = deviceKeyCredential
    }
}
