package import FoundationEssentials
package import KeychainModel

/// The beginning of an export, and the key that goes with it. docs/export-format.md describes every byte.
package struct ExportKey: Sendable {
    package static let headerByteCount = PassphraseHeader.byteCount

    static let format = PassphraseFormat(
        magic: Array("KCEXPT\r\n".utf8), version: 1, commitmentLabel: "export commitment 1", keyLabel: "export key 1",
        name: "export", kind: "no export of a keychain", consequence: "nothing was imported", versionCode: .parameter)

    /// The bytes before the first chunk.
    package let header: Data
    /// The chunks of this file, and of no other, are sealed under this key.
    package let chunkKey: KeyMaterial

    /// Makes the header and the key of a new export.
    ///
    /// Takes a third of a second and 128 MiB with the default cost.
    ///
    /// - Throws: as ``Passcode/check(_:as:)`` for bytes that are no passphrase, `.allocation` if there is no memory for
    ///   it.
    package init(
        new passphrase: SecretBytes, cost: UInt8 = PasscodeParameters.defaultCost,
        randomness: some Randomness = SystemRandomness()
    ) throws(KeychainError) {
        let made = try PassphraseHeader(Self.format, new: passphrase, cost: cost, randomness: randomness)
        (header, chunkKey) = (made.bytes, made.key)
    }

    /// Opens the header of an export.
    ///
    /// - Parameter header: Its first bytes; fewer than ``headerByteCount`` if it has no more.
    /// - Throws: `.parameter` for bytes that are no export, or one of another version; `.decode` for one that ends
    ///   within its header; `.authenticationFailed` for another passphrase than the one it was made with.
    package init(opening header: Data, passphrase: SecretBytes) throws(KeychainError) {
        let opened = try PassphraseHeader(Self.format, opening: header, passphrase: passphrase)
        (self.header, chunkKey) = (opened.bytes, opened.key)
    }

    /// Looks at a header before the passphrase is asked for.
    ///
    /// - Throws: as ``init(opening:passphrase:)``.
    package static func requireFormat(_ header: Data) throws(KeychainError) {
        _ = try PassphraseHeader.parameters(format, of: header)
    }
}

extension KeychainError {
    package static func damagedExport(_ reason: String) -> KeychainError { ExportKey.format.damaged(reason) }
}
