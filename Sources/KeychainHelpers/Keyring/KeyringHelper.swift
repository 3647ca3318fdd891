internal import FoundationEssentials
internal import Glibc
internal import KeychainModel

/// `keyring`, which pip and uv start: the command of Python's keyring, over this keychain.
enum KeyringHelper: Helper {
    static let name = "keyring"

    static func answerOutOfTime(_ arguments: [String]) -> String { "" }

    static func run(_ arguments: [String], _ console: HelperConsole) -> Int32 {
        let command: KeyringCommandLine
        do { command = try KeyringCommandLine(arguments) } catch {
            console.complain(
                "\(error.message). Use: keyring [--mode password|creds] [--output plain|json] get|set|del "
                    + "SERVICE USERNAME")
            return 2
        }
        do {
            switch command.operation {
            case .get: return try get(command, console) ? 0 : 1
            case .set: try set(command, console)
            case .del:
                guard try items.erase(attributes(command)) > 0 else {
                    throw HelperFailure("there is no such password that this command has stored")
                }
            case .diagnose:
                try console.write("this is keyring of swift-keychain; 'keychainctl status' tells the rest\n")
            }
            return 0
        } catch {
            console.complain(error)
            return 1
        }
    }

    private static var items: HelperItems { HelperItems(.genericPassword, mark: "keyring password") }

    private static func attributes(_ command: KeyringCommandLine) -> AttributeSet {
        var attributes: AttributeSet = [.service: .text(command.service)]
        if let username = command.username { attributes[.account] = .text(username) }
        return attributes
    }

    // MARK: Operations

    /// - Returns: false if there is no such password. Callers want no message then.
    private static func get(_ command: KeyringCommandLine, _ console: HelperConsole) throws -> Bool {
        let items = items
        guard let item = try items.find(attributes(command)).first else { return false }
        let password = try items.secret(of: item)
        if command.isJSON {
            var members = ["password": try password.text("the stored secret")]
            if command.wantsUsername { members["username"] = item.text(.account) ?? "" }
            try console.write(try JSONMessage.line(members))
            return true
        }
        let lines = SecretBuffer()
        if command.wantsUsername {
            lines.append(item.bytes(.account) ?? Data())
            lines.append("\n")
        }
        lines.append(password)
        lines.append("\n")
        try console.write(lines)
        return true
    }

    private static func set(_ command: KeyringCommandLine, _ console: HelperConsole) throws {
        guard isatty(STDIN_FILENO) == 0 else {
            throw HelperFailure("the password comes from standard input: keyring set SERVICE USERNAME < FILE")
        }
        let input = try console.read()
        let password = input.withUnsafeBytes { bytes in
            SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.last == 0x0a ? bytes.dropLast() : bytes[...]))
        }
        guard password.count > 0 else { throw HelperFailure("standard input is empty: nothing was stored") }
        try items.store(
            password, attributes(command), label: "\(command.username ?? "") at \(command.service)",
            replacing: attributes(command))
    }
}
