internal import FoundationEssentials
internal import KeychainModel

/// The key of a secret half, wrapped under a key of the passcode, the application password, or both, as the item's
/// access control asks. Under the row's own key it is wrapped once more, so that neither key is enough alone, and class
/// keys can be renewed without passcode and password.
struct ConstrainedKeyWrap {
    private static let label = "constrained secret 1"
    private static let format: UInt8 = 1
    private static let headByteCount = 8

    let binding: RowBinding
    /// SHA-256 of the access control.
    let digest: Data

    private var needsPasscode: Bool { binding.accessControl.isSealedWithPasscode }
    private var needsPassword: Bool { binding.accessControl.isSealedWithApplicationPassword }

    /// nil if the secrets of such an item are sealed like every other.
    init?(_ binding: RowBinding, digest: Data) {
        self.binding = binding
        self.digest = digest
        if !needsPasscode && !needsPassword { return nil }
    }

    /// Format, cost of the application password's derivation, six zeros; a public key if the passcode is needed; the
    /// wrapped key.
    var byteCount: Int {
        Self.headByteCount + (needsPasscode ? X25519.byteCount : 0) + AESKeyWrap.wrappedByteCount
    }

    /// - Parameter key: 32 bytes.
    /// - Throws: `.authenticationFailed` if there is no passcode, or no password came with the request.
    func wrap(
        _ key: UnsafeRawBufferPointer, with keys: ConstraintKeys, randomness: some Randomness,
        into target: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        let password = try requirePassword(keys)
        target.copyBytes(from: [Self.format, password?.cost ?? 0, 0, 0, 0, 0, 0, 0])
        let sender = UnsafeMutableRawBufferPointer(
            rebasing: target[Self.headByteCount..<(target.count - AESKeyWrap.wrappedByteCount)])
        let wrapped = UnsafeMutableRawBufferPointer(rebasing: target.suffix(AESKeyWrap.wrappedByteCount))
        guard needsPasscode else {
            return try wrap(key, Data(), Data(), UnsafeRawBufferPointer(sender), password, into: wrapped)
        }
        guard let recipient = keys.consentPublicKey else {
            throw KeychainError(
                .authenticationFailed,
                message: "the item's access control asks for the passcode, and none is set: set one with "
                    + "'keychainctl passcode set'")
        }
        try withErasedBytes(2 * X25519.byteCount) { bytes throws(KeychainError) in
            let pair = UnsafeMutableRawBufferPointer(rebasing: bytes[..<X25519.byteCount])
            let shared = UnsafeMutableRawBufferPointer(rebasing: bytes[X25519.byteCount...])
            try randomness.fill(pair)
            X25519.publicKey(of: UnsafeRawBufferPointer(pair), into: sender)
            guard recipient.withUnsafeBytes({ X25519.agree(UnsafeRawBufferPointer(pair), with: $0, into: shared) })
            else { throw Self.damaged }
            try wrap(key, Data(sender), recipient, UnsafeRawBufferPointer(shared), password, into: wrapped)
        }
    }

    private func wrap(
        _ key: UnsafeRawBufferPointer, _ sender: Data, _ recipient: Data, _ shared: UnsafeRawBufferPointer,
        _ password: ApplicationPasswordKey?, into wrapped: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        let isWrapped = try withWrappingKey(sender, recipient, shared, password) {
            AESKeyWrap.wrap(key, under: $0, into: wrapped)
        }
        guard isWrapped else { throw KeychainError(.internalFailure, message: "a row's key could not be wrapped") }
    }

    /// - Parameters:
    ///   - wrapped: The output of ``wrap(_:with:randomness:into:)``.
    ///   - key: 32 bytes, of no use after an error.
    /// - Throws: `.authenticationFailed` if the passcode or the password was not shown, or the password is wrong;
    ///   `.decode` if the bytes cannot have been made for this row.
    func unwrap(
        _ wrapped: UnsafeRawBufferPointer, with keys: ConstraintKeys, into key: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        guard wrapped.count == byteCount, wrapped[0] == Self.format, wrapped[2..<8].allSatisfy({ $0 == 0 }) else {
            throw Self.damaged
        }
        let shown = try requirePassword(keys)
        guard shown == nil ? wrapped[1] == 0 : PasscodeParameters.costs.contains(wrapped[1]) else { throw Self.damaged }
        let password = try shown?.withCost(wrapped[1])
        let sender = UnsafeRawBufferPointer(
            rebasing: wrapped[Self.headByteCount..<(wrapped.count - AESKeyWrap.wrappedByteCount)])
        let inner = UnsafeRawBufferPointer(rebasing: wrapped.suffix(AESKeyWrap.wrappedByteCount))
        let isOpen = try withShared(sender, keys) { recipient, shared throws(KeychainError) in
            try withWrappingKey(Data(sender), recipient, shared, password) {
                AESKeyWrap.unwrap(inner, under: $0, into: key)
            }
        }
        guard isOpen else {
            // The passcode's own key opens everything that was made for it, so the password is wrong.
            guard needsPassword else { throw Self.damaged }
            throw KeychainError(
                .authenticationFailed, message: "the application password is wrong", signal: .wrongApplicationPassword)
        }
    }

    private func withShared<R>(
        _ sender: UnsafeRawBufferPointer, _ keys: ConstraintKeys,
        _ body: (_ recipient: Data, _ shared: UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        guard needsPasscode else { return try body(Data(), sender) }
        guard let consent = keys.consent else {
            throw KeychainError(
                .authenticationFailed, message: "the item is sealed with the passcode, which is missing")
        }
        return try withErasedBytes(X25519.byteCount) { shared throws(KeychainError) in
            let isAgreed = consent.privateKey.withUnsafeBytes { X25519.agree($0, with: sender, into: shared) }
            guard isAgreed else { throw Self.damaged }
            return try body(consent.publicKey, UnsafeRawBufferPointer(shared))
        }
    }

    private func requirePassword(_ keys: ConstraintKeys) throws(KeychainError) -> ApplicationPasswordKey? {
        guard needsPassword else { return nil }
        guard let password = keys.applicationPassword else {
            throw KeychainError(
                .authenticationFailed,
                message: "the item's access control asks for an application password, and none came with the request")
        }
        return password
    }

    /// HKDF (RFC 5869): extracted from the agreed secret and the password's key, with the public keys, if there are
    /// any, as the salt; expanded for this row and access control.
    private func withWrappingKey<R>(
        _ sender: Data, _ recipient: Data, _ shared: UnsafeRawBufferPointer, _ password: ApplicationPasswordKey?,
        _ body: (UnsafeRawBufferPointer) -> R
    ) throws(KeychainError) -> R {
        try withErasedBytes(KeyedHash.byteCount) { extracted throws(KeychainError) in
            (sender + recipient).withUnsafeBytes { salt in
                var hash = KeyedHash(key: salt)
                hash.update(shared)
                password?.key.withUnsafeBytes { hash.update($0) }
                hash.finalize(into: extracted)
            }
            let context = KeyContext(binding.storeID).adding(binding.rowID).adding(digest)
            return context.withInfo(Self.label) { info in
                KeyedHash.withExpanded(UnsafeRawBufferPointer(extracted), info: info, body)
            }
        }
    }

    private static var damaged: KeychainError {
        KeychainError(.decode, message: "a stored item is damaged or was tampered with")
    }
}
