internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel
internal import Synchronization

/// The key of one open file, for as long as this process may have it, and the version of the file that was last
/// verified with it.
package final class KeyLease: Sendable {
    private struct State {
        var key: OpenFileKey?
        var version: FileVersion?
        var hasEnded = false
        /// The number of calls in progress that need the key several times.
        var longCalls = 0
        /// The number of times the key was taken away. A call that asked for the key before that does not bring it
        /// back.
        var losses = 0
    }
    private let state: Mutex<State>

    /// - Parameter key: The file's key if it is known already, as for a file that was just made.
    init(_ key: OpenFileKey?) { state = Mutex(State(key: key)) }

    var losses: Int { state.withLock { $0.losses } }
    package var hasKey: Bool { state.withLock { $0.key != nil } }
    var hasLongCalls: Bool { state.withLock { $0.longCalls > 0 } }
    var knownClass: FileClass? { state.withLock { $0.version?.header.key.fileClass } }

    /// The key of a file. A change of class does not change it.
    func key(of fileID: UUID) -> OpenFileKey? {
        state.withLock { $0.key?.fileID == fileID ? $0.key : nil }
    }

    /// The known version, if the first page of the file is still that one's, and the key.
    func version(in page: UnsafeRawBufferPointer) -> (version: FileVersion, key: OpenFileKey)? {
        state.withLock { state in
            guard let version = state.version, let key = state.key, version.isIn(page) else { return nil }
            return (version, key)
        }
    }

    /// Keeps what was found by a call that had begun before a number of losses.
    func keep(_ version: FileVersion, _ key: OpenFileKey, asOf losses: Int) {
        state.withLock { state in
            guard state.losses == losses, !state.hasEnded else { return }
            state.version = version
            state.key = key
        }
    }

    /// Keeps the version that a write has made.
    func keep(_ version: FileVersion?) { state.withLock { $0.version = version } }

    /// Takes the key away, until it is asked for anew.
    func lose() {
        state.withLock { state in
            state.key = nil
            state.version = nil
            state.losses += 1
        }
    }

    /// Takes the key away for ever.
    func end() {
        state.withLock { state in
            state.key = nil
            state.version = nil
            state.hasEnded = true
        }
    }

    /// Runs a call that needs the key several times. A lock of the keychain leaves it the key for the time of the
    /// grace.
    package func duringLongCall<R>(_ body: () throws(DataProtectionError) -> R) throws(DataProtectionError) -> R {
        state.withLock { $0.longCalls += 1 }
        defer { state.withLock { $0.longCalls -= 1 } }
        return try body()
    }
}
