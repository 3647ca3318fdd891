@_implementationOnly import CKeychainLinux
package import Foundation
package import KeychainModel

/// Where the files of a store are.
package struct StoreLocation: Sendable {
    package let storeDirectory: URL
    package let deviceKeyDirectory: URL
    /// A systemd credential with the device key. It comes before the file, unless the program names a directory.
    package let deviceKeyCredential: URL?

    package init(_ configuration: KeychainConfiguration) throws(KeychainError) {
        try self.init(configuration, environment: .process)
    }

    init(_ configuration: KeychainConfiguration, environment: Environment) throws(KeychainError) {
        if let directory = configuration.storeDirectory {
            storeDirectory = directory
        } else if let directory = try environment.directory("KEYCHAIN_HOME") {
            storeDirectory = directory
        } else {
            storeDirectory = try environment.directory("XDG_DATA_HOME", inHome: ".local/share")
                .appendingPathComponent("keychain")
        }
        if let directory = configuration.deviceKeyDirectory {
            deviceKeyDirectory = directory
            deviceKeyCredential = nil
        } else {
            deviceKeyCredential = try environment.credential("keychain.device-key")
            deviceKeyDirectory = try environment.directory("XDG_STATE_HOME", inHome: ".local/state")
                .appendingPathComponent("keychain")
        }
    }
}

/// The part of a process's surroundings that says where files are.
struct Environment {
    let variables: [String: String]

    /// A program that was started with raised privileges must not be led astray by who started it.
    static var process: Environment {
        let isTrusted = ckeychain_is_secure_execution() == 0
        return Environment(variables: isTrusted ? ProcessInfo.processInfo.environment : [:])
    }

    /// A variable that names a directory. Relative paths in XDG variables do not count, as the XDG Base Directory
    /// Specification says; in ours they are a mistake.
    func directory(_ name: String) throws(KeychainError) -> URL? {
        guard let path = variables[name], !path.isEmpty else { return nil }
        if path.hasPrefix("/") { return URL(fileURLWithPath: path, isDirectory: true) }
        if name.hasPrefix("XDG_") { return nil }
        throw KeychainError(.notAvailable, message: "\(name) must be an absolute path, and is \(path)")
    }

    /// A file that systemd hands to a service (systemd.exec(5)), if it is there.
    func credential(_ name: String) throws(KeychainError) -> URL? {
        guard let directory = try directory("CREDENTIALS_DIRECTORY") else { return nil }
        let file = directory.appendingPathComponent(name)
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }

    func directory(_ name: String, inHome path: String) throws(KeychainError) -> URL {
        if let directory = try directory(name) { return directory }
        return try home().appendingPathComponent(path)
    }

    private func home() throws(KeychainError) -> URL {
        if let home = try directory("HOME") { return home }
        guard let home = AccountDatabase.homeDirectory else {
            throw KeychainError(
                .notAvailable, message: "this user has no home directory: set KEYCHAIN_HOME and XDG_STATE_HOME")
        }
        return URL(fileURLWithPath: home, isDirectory: true)
    }
}
