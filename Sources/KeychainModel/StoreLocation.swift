package import FoundationEssentials

/// The places of a store's files.
package struct StoreLocation: Sendable, Hashable {
    package let storeDirectory: URL
    package let deviceKeyDirectory: URL
    /// A systemd credential with the device key. It comes before the file, unless the program names a directory.
    package let deviceKeyCredential: URL?
    /// Whether root may make missing directories in the home of another account.
    package var mayLieInOthersHomes = false

    package init(storeDirectory: URL, deviceKeyDirectory: URL, deviceKeyCredential: URL?) {
        self.storeDirectory = storeDirectory
        self.deviceKeyDirectory = deviceKeyDirectory
        self.deviceKeyCredential = deviceKeyCredential
    }
}
