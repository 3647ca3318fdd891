internal import KeychainModel

/// `keychain-secret SERVICE [ACCOUNT]`, for tools that run a command and take its output for a password. The output is
/// the bytes of one generic password.
enum SecretHelper: Helper {
    static let name = "keychain-secret"

    static func answerOutOfTime(_ arguments: [String]) -> String { "" }

    static func run(_ arguments: [String], _ console: HelperConsole) -> Int32 {
        guard (1...2).contains(arguments.count), !arguments[0].hasPrefix("-") else {
            console.complain("use: keychain-secret SERVICE [ACCOUNT]")
            return 64
        }
        var attributes: AttributeSet = [.service: .text(arguments[0])]
        if arguments.count == 2 { attributes[.account] = .text(arguments[1]) }
        do {
            try console.write(try secret(attributes))
            return 0
        } catch let error as KeychainError {
            console.complain(error)
            // keychainctl has the same exit status.
            return error.status & 0xff
        } catch {
            console.complain(error)
            return 1
        }
    }

    private static func secret(_ attributes: AttributeSet) throws -> SecretBuffer {
        // The item may be of any program, because the person has named it in a command.
        let items = HelperItems(.genericPassword, mark: nil)
        let found = try items.find(attributes)
        guard let item = found.first else {
            throw KeychainError(
                .itemNotFound, message: "there is no such generic password in the access group keychain")
        }
        guard found.count == 1 else {
            throw KeychainError(.parameter, message: "\(found.count) accounts have that service: name one of them too")
        }
        let buffer = SecretBuffer()
        buffer.append(try items.secret(of: item))
        return buffer
    }
}
