package import FoundationEssentials
package import KeychainModel

/// The part of a process's surroundings that says where files are.
package struct Environment: Sendable {
    package let variables: [String: String]

    package init(variables: [String: String]) { self.variables = variables }

    /// A program that was started with raised privileges must not be led astray by its caller.
    package static var process: Environment {
        let isTrusted = ckeychain_is_secure_execution() == 0
        return Environment(variables: isTrusted ? ProcessInfo.processInfo.environment : [:])
    }

    /// The directory that a variable names. Relative paths in XDG variables do not count, as the XDG Base Directory
    /// Specification says; in ours they are a mistake.
    package func directory(_ name: String) throws(KeychainError) -> URL? {
        guard let path = variables[name], !path.isEmpty else { return nil }
        if path.hasPrefix("/") { return URL(fileURLWithPath: path, isDirectory: true) }
        if name.hasPrefix("XDG_") { return nil }
        throw KeychainError(.notAvailable, message: "\(name) must be an absolute path, and is \(path)")
    }

    /// A file that systemd hands to a service (systemd.exec(5)), if it is there.
    package func credential(_ name: String) throws(KeychainError) -> URL? {
        guard let directory = try directory("CREDENTIALS_DIRECTORY") else { return nil }
        let file = directory.appendingPathComponent(name)
        return FilePath.exists(file.path) ? file : nil
    }

    package func directory(_ name: String, inHome path: String) throws(KeychainError) -> URL {
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
