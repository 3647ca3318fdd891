public import KeychainModel

extension Keychain {
    /// Makes a password of random letters, digits and symbols, with at least one lower-case letter, upper-case letter, digit
    /// and symbol.
    ///
    /// ```swift
    /// try keychain.set(Keychain.generatePassword(), for: "alice")
    /// ```
    ///
    /// It is the rule of `keychainctl generate`: every such text is as likely as any other one. 20 characters have 125
    /// bits of entropy. Nothing is stored.
    ///
    /// - Parameter length: The number of characters, from 4 to 1024.
    /// - Returns: The password, in ordinary memory that is not erased.
    /// - Throws: ``KeychainError/Code/parameter`` for another length.
    public static func generatePassword(length: Int = 20) throws(KeychainError) -> String {
        guard RandomPassword.lengths.contains(length) else {
            throw KeychainError(.parameter, message: "a password has from 4 to 1024 characters, and not \(length)")
        }
        var generator = SystemRandomNumberGenerator()
        let classes = CharacterClass.allCases.map(\.characters)
        return RandomPassword.make(count: length, of: classes, using: &generator)
            .withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
