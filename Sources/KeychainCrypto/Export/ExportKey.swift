package import Foundation
package import KeychainModel

/// The beginning of an export, and the key that goes with it. docs/export-format.md describes every byte.
package struct ExportKey: Sendable {
    package static let headerByteCount = 83
    package static let formatVersion: UInt16 = 1
    private static let magic = Array("KCEXPT\r\n".utf8)

    /// What stands before the first chunk.
    package let header: Data
    /// What the chunks of this file, and of no other, are sealed under.
    let chunkKey: KeyMaterial

    /// For a new export.
    ///
    /// Takes a third of a second and 128 MiB with the default cost.
    ///
    /// - Throws: as ``Passcode/check(_:as:)`` for what is no passphrase, `.allocation` if there is no memory for it.
    package init(
        new passphrase: SecretBytes, cost: UInt8 = PasscodeParameters.defaultCost,
        randomness: some Randomness = SystemRandomness()
    ) throws(KeychainError) {
        try Passcode.check(passphrase, as: "passphrase")
        let parameters = try PasscodeParameters.make(cost: cost, randomness: randomness)
        let identity = Self.identity(parameters)
        let stretched = try parameters.stretch(passphrase)
        header = identity + Self.commitment(stretched, identity)
        chunkKey = try Self.chunkKey(stretched, identity)
    }

    /// For an export that is there.
    ///
    /// - Parameter header: Its first bytes; fewer than ``headerByteCount`` if it has no more.
    /// - Throws: `.parameter` for what is no export, or one of another version; `.decode` for one that ends within its
    ///   header; `.authenticationFailed` for another passphrase than the one it was made with.
    package init(opening header: Data, passphrase: SecretBytes) throws(KeychainError) {
        let parameters = try Self.parameters(of: header)
        try Passcode.check(passphrase, as: "passphrase")
        let identity = Data(header.dropLast(KeyedHash.byteCount))
        let stretched = try parameters.stretch(passphrase)
        // Before anything is opened: a wrong passphrase is told from damage, and no file opens under two of them.
        guard Keybag.isEqual(header.suffix(KeyedHash.byteCount), Self.commitment(stretched, identity)) else {
            throw KeychainError(
                .authenticationFailed,
                message: "the passphrase is not the one that the export was made with, or the first "
                    + "\(Self.headerByteCount) bytes of the file were changed; nothing was imported")
        }
        self.header = Data(header)
        chunkKey = try Self.chunkKey(stretched, identity)
    }

    // MARK: The header

    /// Looks at a header before anybody is asked for a passphrase.
    ///
    /// - Throws: as ``init(opening:passphrase:)``.
    package static func requireFormat(_ header: Data) throws(KeychainError) { _ = try parameters(of: header) }

    private static func identity(_ parameters: PasscodeParameters) -> Data {
        var bytes = Data(magic)
        bytes.append(bigEndian: formatVersion)
        bytes.append(parameters.encoded)
        return bytes
    }

    private static func parameters(of header: Data) throws(KeychainError) -> PasscodeParameters {
        var reader = ByteReader(header)
        guard reader.take(magic.count).map(Array.init) == magic else {
            throw KeychainError(.parameter, message: "the file is no export of a keychain; nothing was imported")
        }
        guard let version = reader.integer(UInt16.self) else { throw .damagedExport("it ends within its header") }
        guard version == formatVersion else {
            let maker = version > formatVersion ? "a newer version of keychain made it" : "no version ever made that"
            throw KeychainError(
                .parameter,
                message: "the export has format \(version), and this program knows format \(formatVersion): \(maker); "
                    + "nothing was imported")
        }
        guard header.count == headerByteCount, let parameters = PasscodeParameters(from: &reader) else {
            throw .damagedExport("it ends within its header")
        }
        guard parameters.areReasonable else {
            throw .damagedExport("its passphrase would take more work than this program ever asks for")
        }
        return parameters
    }

    // MARK: Keys

    /// Fixes what scrypt gave, and with it the key of the chunks.
    private static func commitment(_ stretched: KeyMaterial, _ identity: Data) -> Data {
        withExpanded(stretched, "export commitment 1", identity) { Data($0) }
    }

    private static func chunkKey(_ stretched: KeyMaterial, _ identity: Data) throws(KeychainError) -> KeyMaterial {
        try withExpanded(stretched, "export key 1", identity) { key throws(KeychainError) in
            try KeyMaterial { target throws(KeychainError) in target.copyMemory(from: key) }
        }
    }

    private static func withExpanded<R, E: Error>(
        _ stretched: KeyMaterial, _ label: String, _ identity: Data, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try stretched.withUnsafeBytes { key throws(E) in
            try withUnsafeBytes(of: Array(label.utf8) + identity) { info throws(E) in
                try KeyedHash.withExpanded(key, info: info, body)
            }
        }
    }

    private static func withUnsafeBytes<R, E: Error>(
        of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        var result: Result<R, E>?
        bytes.withUnsafeBytes { bytes in
            do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }
}

extension KeychainError {
    static func damagedExport(_ reason: String) -> KeychainError {
        KeychainError(.decode, message: "the export is damaged or was tampered with: \(reason); nothing of it was used")
    }
}
