internal import FoundationEssentials
internal import KeychainModel

/// The marks by which files that open with a passphrase alone are told apart.
struct PassphraseFormat {
    /// The first eight bytes.
    let magic: [UInt8]
    let version: UInt16
    let commitmentLabel: String
    let keyLabel: String
    /// The file's name in messages, and the words for another file in its place.
    let name: String
    let kind: String
    /// The end of each message: the step that was not taken.
    let consequence: String
    /// The error for a version that is not known.
    let versionCode: KeychainError.Code
}

/// The beginning of a file under a passphrase, and the key that goes with it. docs/export-format.md describes every
/// byte.
struct PassphraseHeader {
    static let byteCount = 83

    let bytes: Data
    let key: KeyMaterial

    /// Makes the header of a new file.
    ///
    /// Takes a third of a second and 128 MiB with the default cost.
    ///
    /// - Throws: as ``Passcode/check(_:as:)`` for bytes that are no passphrase, `.allocation` if there is no memory for
    ///   it.
    init(
        _ format: PassphraseFormat, new passphrase: SecretBytes, cost: UInt8, randomness: some Randomness
    ) throws(KeychainError) {
        try Passcode.check(passphrase, as: "passphrase")
        let parameters = try PasscodeParameters.make(cost: cost, randomness: randomness)
        let identity = Self.identity(format, parameters)
        let stretched = try parameters.stretch(passphrase)
        bytes = identity + Self.commitment(format, stretched, identity)
        key = try Self.key(format, stretched, identity)
    }

    /// Opens the header of a file.
    ///
    /// - Parameter header: Its first bytes; fewer than ``byteCount`` if it has no more.
    /// - Throws: `.parameter` for a file of another kind, the format's own code for one of another version; `.decode` for
    ///   one that ends within its header; `.authenticationFailed` for another passphrase than the one it was made with.
    init(_ format: PassphraseFormat, opening header: Data, passphrase: SecretBytes) throws(KeychainError) {
        let parameters = try Self.parameters(format, of: header)
        try Passcode.check(passphrase, as: "passphrase")
        let identity = Data(header.dropLast(KeyedHash.byteCount))
        let stretched = try parameters.stretch(passphrase)
        // Before anything is opened: a wrong passphrase is told from damage, and no file opens under two of them.
        guard Keybag.isEqual(header.suffix(KeyedHash.byteCount), Self.commitment(format, stretched, identity)) else {
            throw KeychainError(
                .authenticationFailed,
                message: "the passphrase is not the one that the \(format.name) was made with, or the first "
                    + "\(Self.byteCount) bytes of the file were changed; \(format.consequence)")
        }
        bytes = Data(header)
        key = try Self.key(format, stretched, identity)
    }

    // MARK: Parts

    private static func identity(_ format: PassphraseFormat, _ parameters: PasscodeParameters) -> Data {
        var bytes = Data(format.magic)
        bytes.append(bigEndian: format.version)
        bytes.append(parameters.encoded)
        return bytes
    }

    /// - Throws: as ``init(_:opening:passphrase:)``.
    static func parameters(_ format: PassphraseFormat, of header: Data) throws(KeychainError) -> PasscodeParameters {
        var reader = ByteReader(header)
        guard reader.take(format.magic.count).map(Array.init) == format.magic else {
            throw KeychainError(.parameter, message: "the file is \(format.kind); \(format.consequence)")
        }
        guard let version = reader.integer(UInt16.self) else { throw format.cutShort }
        guard version == format.version else {
            let maker =
                version > format.version ? "a newer version of keychain made it" : "no version ever made that"
            throw KeychainError(
                format.versionCode,
                message: "the \(format.name) has format \(version), and this program knows format \(format.version): "
                    + "\(maker); \(format.consequence)")
        }
        guard header.count == byteCount, let parameters = PasscodeParameters(from: &reader) else {
            throw format.cutShort
        }
        guard parameters.areReasonable else {
            throw format.damaged("its passphrase would take more work than this program ever asks for")
        }
        return parameters
    }

    /// Fixes what scrypt gave, and with it the key.
    private static func commitment(
        _ format: PassphraseFormat, _ stretched: KeyMaterial, _ identity: Data
    ) -> Data {
        withExpanded(stretched, format.commitmentLabel, identity) { Data($0) }
    }

    private static func key(
        _ format: PassphraseFormat, _ stretched: KeyMaterial, _ identity: Data
    ) throws(KeychainError) -> KeyMaterial {
        try withExpanded(stretched, format.keyLabel, identity) { key throws(KeychainError) in
            try KeyMaterial { target throws(KeychainError) in target.copyMemory(from: key) }
        }
    }

    private static func withExpanded<R, E: Error>(
        _ stretched: KeyMaterial, _ label: String, _ identity: Data, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try stretched.withUnsafeBytes { key throws(E) in
            try (Array(label.utf8) + identity).withUnsafeBytes { info in
                Result { () throws(E) in try KeyedHash.withExpanded(key, info: info, body) }
            }.get()
        }
    }
}

extension PassphraseFormat {
    func damaged(_ reason: String) -> KeychainError {
        KeychainError(
            .decode, message: "the \(name) is damaged or was tampered with: \(reason); nothing of it was used")
    }

    fileprivate var cutShort: KeychainError { damaged("it ends within its header") }
}
