internal import FoundationEssentials
package import KeychainModel

/// The key of the file class "when user inactive". It comes from the key of class A of the same generation, and no keybag
/// has it: it exists wherever that key does, retired or not, and outlives a lock in memory only.
extension Keybag {
    private static let labelOfInactive = "user inactive 1"

    /// Calls `body` with the key of a file class, made of the key of the class's ``FileClass/source``.
    static func withKey<R, E: Error>(
        of fileClass: FileClass, from source: UnsafeRawBufferPointer, _ storeID: UUID, _ generation: UInt32,
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        guard fileClass != fileClass.source else { return try body(source) }
        let context = KeyContext(storeID).adding(generation)
        return try context.withInfo(labelOfInactive) { info throws(E) in
            try KeyedHash.withExpanded(source, info: info, body)
        }
    }

    /// Calls `body` with the key of a file class, of any generation. The key of class B has the private half.
    ///
    /// - Parameter keys: The keys in use of the tier of the class's ``FileClass/source``.
    /// - Returns: nil if the bag has no such key, or `keys` lack the newest successor.
    /// - Throws: `.decode` if one of the retired keys does not open.
    package func withFileClassKey<R>(
        _ fileClass: FileClass, generation: UInt32, from keys: KeySet,
        _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R? {
        let use = { (source: UnsafeRawBufferPointer) throws(KeychainError) -> R in
            try Self.withKey(of: fileClass, from: source, storeID, generation, body)
        }
        if let result = try keys.withKey(.file(fileClass.source), generation: generation, use) { return result }
        return try withRetiredKey(fileClass.source, generation: generation, from: keys, use)
    }

    /// A blob of the kernel's keyring has room for the keys of as many generations.
    private static let mostInactiveGenerations = 24

    /// The keys of the file class "when user inactive": of the newest generations, in use and retired.
    ///
    /// - Parameter keys: The keys in use of the tier "when unlocked".
    package func inactiveKeys(from keys: KeySet) throws(KeychainError) -> KeySet {
        let fileClass = FileClass.completeWhenUserInactive
        let made = try KeySet()
        let generations = (retired + entries).filter { $0.key == .file(fileClass.source) }.map(\.generation)
        for generation in generations.suffix(Self.mostInactiveGenerations).reversed() {
            do throws(KeychainError) {
                _ = try withFileClassKey(fileClass, generation: generation, from: keys) { key throws(KeychainError) in
                    try made.add(.file(fileClass), generation: generation) { $0.copyMemory(from: key) }
                }
            } catch  where error.code == .decode {
                // A retired key that does not open matters to its files, and to older keys, which open by way of it.
                break
            }
        }
        return made
    }
}
