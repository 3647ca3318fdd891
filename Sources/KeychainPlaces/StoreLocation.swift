package import Foundation
package import KeychainModel

/// Where the files of a store are.
package struct StoreLocation: Sendable, Hashable {
    package let storeDirectory: URL
    package let deviceKeyDirectory: URL
    /// A systemd credential with the device key. It comes before the file, unless the program names a directory.
    package let deviceKeyCredential: URL?

    /// - Parameters:
    ///   - store: The directory of the store, if somebody names it; nil: `KEYCHAIN_HOME`, else the usual place.
    ///   - deviceKey: That of the device key, in the same way.
    package init(store: URL?, deviceKey: URL?, environment: Environment) throws(KeychainError) {
        if let directory = store {
            storeDirectory = directory
        } else if let directory = try environment.directory("KEYCHAIN_HOME") {
            storeDirectory = directory
        } else {
            storeDirectory = try environment.directory("XDG_DATA_HOME", inHome: ".local/share")
                .appendingPathComponent("keychain")
        }
        if let directory = deviceKey {
            deviceKeyDirectory = directory
            deviceKeyCredential = nil
        } else {
            deviceKeyCredential = try environment.credential("keychain.device-key")
            deviceKeyDirectory = try environment.directory("XDG_STATE_HOME", inHome: ".local/state")
                .appendingPathComponent("keychain")
        }
    }
}
