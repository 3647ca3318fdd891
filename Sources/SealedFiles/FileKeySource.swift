package import KeychainCrypto
package import KeychainModel

/// The source of the keys of files. It decides when files may be used.
package protocol FileKeySource: Sendable {
    /// Unwraps the key of a file.
    ///
    /// - Parameter path: The path of the file, for errors.
    func open(_ key: WrappedFileKey, _ path: String) throws(DataProtectionError) -> KeyMaterial
    /// Wraps the key of a file for another class.
    func rewrap(
        _ key: WrappedFileKey, for fileClass: FileClass, _ path: String
    ) throws(DataProtectionError) -> WrappedFileKey
    /// Makes sure that a call on an open file of a class may begin now.
    func requireUse(of fileClass: FileClass, _ path: String) throws(DataProtectionError)
}
