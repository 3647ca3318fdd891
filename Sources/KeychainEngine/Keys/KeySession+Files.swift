internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

extension KeySession {
    /// Calls `body` with the key of a file class, of any generation. The key of class B has the private half.
    ///
    /// - Throws: `.interactionNotAllowed` if the key is locked away, `.noSuchKeychain` if there is no such key, or
    ///   `KeychainError.staleKeys` if the keys were renewed since the operation began.
    func withFileClassKey<R>(
        _ fileClass: FileClass, generation: UInt32, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        // A missing key is reported as missing in every state of the lock.
        try requireFileKey(fileClass, generation: generation)
        if fileClass.tier == .whenUserInactive, let set = try set(of: fileClass.tier) {
            if let result = try set.withKey(.file(fileClass), generation: generation, body) { return result }
        }
        if let set = try set(of: fileClass.source.tier) {
            let result = try snapshot.bag.withFileClassKey(fileClass, generation: generation, from: set, body)
            if let result { return result }
        }
        throw lockedError(fileClass.tier)
    }

    /// The public half of class B's key, which is present in every state of the lock.
    ///
    /// - Throws: as ``withFileClassKey(_:generation:_:)``.
    func publicKey(generation: UInt32) throws(KeychainError) -> Data {
        try requireFileKey(.completeUnlessOpen, generation: generation)
        return snapshot.bag.publicKey(generation: generation)!  // it was just found
    }

    private func requireFileKey(_ fileClass: FileClass, generation: UInt32) throws(KeychainError) {
        if snapshot.bag.hasFileKey(fileClass, generation: generation) { return }
        guard generation > snapshot.newestGeneration else {
            throw KeychainError(
                .noSuchKeychain,
                message:
                    "the key of this file was destroyed: the keychain was erased after wrong passcodes since, or the "
                    + "file's header was changed")
        }
        if !isLastAttempt { throw .staleKeys }
        throw KeychainError(
            .noSuchKeychain,
            message: "the key of this file was destroyed, or the keybag is an older one than the file: the keys of the "
                + "keychain are of generation \(snapshot.newestGeneration), the file's of generation \(generation)")
    }
}
