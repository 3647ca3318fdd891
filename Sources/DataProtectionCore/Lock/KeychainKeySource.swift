internal import KeychainCrypto
internal import KeychainModel
internal import SealedFiles

/// The keys of files as a keychain gives them, in the state of its lock.
struct KeychainKeySource: FileKeySource {
    let keys: FileKeys
    let gate: LockGate

    func open(_ key: WrappedFileKey, _ path: String) throws(DataProtectionError) -> KeyMaterial {
        try KeyMaterial(try keys.ask(.open(key), path).key, path)
    }

    func rewrap(
        _ key: WrappedFileKey, for fileClass: FileClass, _ path: String
    ) throws(DataProtectionError) -> WrappedFileKey {
        try keys.ask(.rewrap(key, fileClass), path).wrapped
    }

    func requireUse(of fileClass: FileClass, _ path: String) throws(DataProtectionError) {
        try gate.require(fileClass, path)
    }
}
