package import FoundationEssentials
package import KeychainModel

extension StoreLocation {
    /// - Parameters:
    ///   - store: The directory of the store, if the caller names it; nil: `KEYCHAIN_HOME`, else the usual place.
    ///   - deviceKey: The directory of the device key, in the same way.
    package init(store: URL?, deviceKey: URL?, environment: Environment) throws(KeychainError) {
        let storeDirectory: URL
        if let directory = store {
            storeDirectory = directory
        } else if let directory = try environment.directory("KEYCHAIN_HOME") {
            storeDirectory = directory
        } else {
            storeDirectory = try environment.directory("XDG_DATA_HOME", inHome: ".local/share")
                .appendingPathComponent("keychain")
        }
        if let directory = deviceKey {
            self.init(storeDirectory: storeDirectory, deviceKeyDirectory: directory, deviceKeyCredential: nil)
        } else {
            let credential = try environment.credential("keychain.device-key")
            let directory = try environment.directory("XDG_STATE_HOME", inHome: ".local/state")
            self.init(
                storeDirectory: storeDirectory, deviceKeyDirectory: directory.appendingPathComponent("keychain"),
                deviceKeyCredential: credential)
        }
    }
}
