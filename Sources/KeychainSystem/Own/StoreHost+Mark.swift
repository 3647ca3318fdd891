package import FoundationEssentials
package import KeychainModel

extension StoreHost {
    /// The limit is more than any word has.
    private static let mostBytes = 64

    /// The file that names the host of a store, if it is not ``embedded`` (docs/store-format.md).
    package static func mark(in storeDirectory: URL) -> URL { storeDirectory.appendingPathComponent("host") }

    /// The word of the mark. It can name no socket: a program that can write the store's directory could name one of
    /// its own, and would be told the passcode.
    ///
    /// - Throws: `.notAvailable` if the mark cannot be read, or has any other word. Which one is not told: something else
    ///   may be in its place.
    package init(ofStore storeDirectory: URL) throws(KeychainError) {
        let url = Self.mark(in: storeDirectory)
        guard let content = try OwnFile.content(of: url, most: Self.mostBytes) else {
            self = .embedded
            return
        }
        let word = String(decoding: content, as: UTF8.self)
        guard let host = StoreHost(rawValue: word.trimming(while: \.isNewline)), host != .embedded else {
            throw KeychainError(
                .notAvailable,
                message: "\(url.path) names a host that this program does not know: a newer version of keychain, or "
                    + "somebody else, wrote it. Nothing was changed")
        }
        self = host
    }
}

extension KeychainError {
    /// The error of a program that wants the store while its items are moved, or after a move that was cut short.
    package static func isMoved(_ storeDirectory: URL) -> KeychainError {
        KeychainError(
            .notAvailable,
            message:
                "the items of the keychain in \(storeDirectory.path) are being moved, and no program can use it until that is "
                + "done. If 'keychainctl migrate' was cut short, run it again: '--to system' goes on, and '--to embedded' "
                + "brings everything here",
            signal: .otherHost)
    }
}
