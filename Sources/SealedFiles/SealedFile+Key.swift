internal import Glibc
package import KeychainCrypto
package import KeychainModel

extension SealedFile {
    /// Wraps the file's key for another class.
    ///
    /// - Parameter isStillRight: Called when no other program can change the file any more.
    package func setClass(
        _ fileClass: FileClass, isStillRight: () throws(DataProtectionError) -> Void
    ) throws(DataProtectionError) {
        try rewrap(isStillRight: isStillRight) { (header) throws(DataProtectionError) in
            try environment.keys.rewrap(header.key, for: fileClass, path)
        }
    }

    /// Puts the file's key into the header in another wrapping.
    ///
    /// No program writes meanwhile, and everything that was written is on the disk before.
    ///
    /// - Parameters:
    ///   - isStillRight: Called when no other program can change the file any more.
    ///   - wrap: Called with the present header.
    package func rewrap(
        _ access: Access = .beginning, isStillRight: () throws(DataProtectionError) -> Void,
        _ wrap: (FileHeader) throws(DataProtectionError) -> WrappedFileKey
    ) throws(DataProtectionError) {
        try withTurn { (file, memory) throws(DataProtectionError) in
            try isStillRight()
            try hold(try current(access, isLocked: true), file, &memory) { (held) throws(DataProtectionError) in
                try held.rewrap(wrap)
            }
        }
    }

    /// The ways of taking a key away.
    package enum KeyLoss {
        /// The key stays with a file that has calls in progress, or content that is not on the disk.
        case ifIdle
        /// The key stays with a file that has calls in progress.
        ///
        /// Content that is not on the disk is made durable first, unless another program keeps the file locked.
        case unlessUsed
        /// The key is taken away in any case.
        case certain
    }

    /// Takes the key away from a file because the keychain was locked. It waits for no other program.
    ///
    /// - Parameter loses: Whether an open file of a class loses its key.
    /// - Returns: false if the file still has its key.
    package func dropKey(_ loss: KeyLoss, _ loses: (FileClass) -> Bool) -> Bool {
        // The header is not verified here, since verifying it may mean waiting. A program that can change the file can
        // do more harm than this.
        let claimed = (try? descriptor()).flatMap { try? headers($0).pair.newest.claimed }
        guard claimed.map({ loses($0.key.fileClass) }) ?? true || lease.knownClass.map(loses) ?? false else {
            return true
        }
        if loss != .certain {
            if lease.hasLongCalls { return false }
            if mayWrite, let claimed, !claimed.isDurable, lease.hasKey {
                guard loss == .unlessUsed, settleWithoutWaiting() else { return false }
            }
        }
        lease.lose()
        return true
    }

    /// Makes the last writes durable.
    ///
    /// - Returns: false if another program writes at this moment. If the disk refuses, ``sync()`` reports it after the
    ///   unlock, since the header does not claim to be durable.
    private func settleWithoutWaiting() -> Bool {
        do throws(DataProtectionError) {
            try withTurn(mustWait: false) { (file, memory) throws(DataProtectionError) in
                try hold(try lookLocked(at: file), file, &memory) { (held) throws(DataProtectionError) in
                    try held.settle()
                }
            }
            return true
        } catch {
            return ![EAGAIN, EACCES].contains(error.errno)
        }
    }
}
