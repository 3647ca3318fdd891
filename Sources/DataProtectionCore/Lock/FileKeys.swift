internal import FoundationEssentials
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
internal import SealedFiles

/// The keys of files. The keychain is asked to unwrap the keys that are in headers.
struct FileKeys: Sendable {
    let connection: Connection

    /// Asks the keychain for a file's key.
    ///
    /// - Parameter path: The path of the file, for errors.
    func ask(_ request: FileKeyRequest, _ path: String) throws(DataProtectionError) -> FileKey {
        try withKeychainErrors(path) { () throws(KeychainError) in
            // A keychain that does not exist yet is made for a new file only.
            if !request.isForNewFile, let place = try connection.placeOfMissingStore() {
                throw KeychainError(
                    .noSuchKeychain, message: "it belongs to another keychain: there is none in \(place.path) yet")
            }
            return try connection.ask(.fileKey(request))
        }
    }

    /// Whether the key of a class that closes with the lock is within reach. An error counts as no.
    ///
    /// A keychain that is still to be made has its keys within reach.
    func isUnlocked(for fileClass: FileClass = .complete) -> Bool {
        if (try? connection.placeOfMissingStore()) != nil { return true }
        return reach(fileClass) == .unlocked
    }

    /// The access that a call still has which began before a lock. An error counts as a lock without grace.
    enum Reach { case unlocked, withinGrace, gone }

    func reach(_ fileClass: FileClass) -> Reach {
        guard let status = try? connection.lockStatus() else { return .gone }
        if !status.closedClasses.contains(fileClass) { return .unlocked }
        return status.isWithinGrace ? .withinGrace : .gone
    }
}

extension FileKeyRequest {
    fileprivate var isForNewFile: Bool {
        switch self {
        case .make, .adopt: true
        case .open, .rewrap: false
        }
    }
}
