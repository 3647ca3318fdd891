internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem
internal import SealedFiles

/// A protected file that is kept from being written to while this exists.
///
/// Programs that keep to docs/file-format.md ("Several programs") wait.
struct SharedFile: ~Copyable {
    private static let patience = Duration.seconds(30)

    let file: OpenFile

    /// Opens the file and waits for programs that write to it.
    ///
    /// - Parameter waiting: Called now and then while another program writes.
    /// - Throws: `.notProtected` for a plain file; `.changedMeanwhile` if programs write to it for half a minute.
    init(_ path: String, waiting: () -> Void) throws(DataProtectionError) {
        let end = ContinuousClock.now + Self.patience
        while true {
            let file = try OpenFile(reading: path)
            guard try file.isProtected() else { throw DataProtectionError(.notProtected, path, "it is a plain file") }
            do throws(DataProtectionError) {
                try HeaderLock.sharedIfFree.take(file.descriptor, path)
                // A write between opening and locking would not be in the facts that were read at opening.
                if file.identity.isUnchanged() {
                    self.file = file
                    return
                }
            } catch {
                guard [EAGAIN, EACCES].contains(error.errno) else { throw error }
            }
            guard ContinuousClock.now < end else {
                throw DataProtectionError(
                    .changedMeanwhile, path, "another program has been writing to it for half a minute; try again")
            }
            waiting()
            usleep(10_000)
        }
    }

    /// The header, which is not verified.
    ///
    /// - Throws: `.truncated` if the file lacks bytes that the header counts: a copy of it would replace a whole one.
    ///   A file with bytes behind its end has all of its content, and is copied.
    func header() throws(DataProtectionError) -> UnverifiedFileHeader {
        let pair = try file.headers()
        let judgement = HeaderJudgement<DataProtectionError>(
            newest: pair.newest.claimed, former: pair.former?.claimed, mark: nil, size: file.size
        ) { _ in nil }
        if case .damaged(_, .size(.missing(let count))) = judgement {
            throw DataProtectionError(.size(.missing(count)), file.path)
        }
        return pair.newest
    }

    /// Makes sure that the file has not changed since it was opened.
    ///
    /// - Throws: `.changedMeanwhile` if a program that does not look at locks has written to it.
    func requireUnchanged() throws(DataProtectionError) {
        guard file.identity.isUnchanged() else {
            throw DataProtectionError(
                .changedMeanwhile, file.path, "another program has changed it meanwhile; nothing was copied, try again")
        }
    }
}
