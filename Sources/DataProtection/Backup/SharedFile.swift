internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem

/// A protected file that nobody who keeps to docs/file-format.md ("Several programs") writes to while this exists.
struct SharedFile: ~Copyable {
    private static let patience = Duration.seconds(30)

    let file: OpenFile

    /// - Parameter waiting: Called now and then while another program writes.
    /// - Throws: `.notProtected` for a plain file; `.changedMeanwhile` if it is written to for half a minute.
    init(_ path: String, waiting: () -> Void) throws(DataProtectionError) {
        let end = ContinuousClock.now + Self.patience
        while true {
            let file = try OpenFile(reading: path)
            guard try file.isProtected() else { throw DataProtectionError(.notProtected, path, "it is a plain file") }
            let failure = ckeychain_share_lock(file.descriptor, Int64(FileFormat.headerByteCount))
            guard [0, EAGAIN, EACCES].contains(failure) else { throw .system("lock", path, errno: failure) }
            // What was written between opening and locking is not in what is known of it.
            if failure == 0 && file.identity.isUnchanged() {
                self.file = file
                return
            }
            guard ContinuousClock.now < end else {
                throw DataProtectionError(
                    .changedMeanwhile, path, "another program has been writing to it for half a minute; try again")
            }
            waiting()
            usleep(10_000)
        }
    }

    /// The header, which nobody has vouched for.
    ///
    /// - Throws: `.truncated` if the file has not all that it says: a copy of it would take the place of a whole one.
    func header() throws(DataProtectionError) -> UnverifiedFileHeader {
        let header = try file.header()
        // One that was written before a crash may refer to what never came to the disk; then the other one counts.
        let page = try file.firstPage()
        let former = (try? Result { () throws(FileFormatError) in try FileHeader.inFirstPage(page) }.get())?.former
        let isBaseThere = !header.claimed.isDurable && (former?.claimed.storedSize).map { $0 <= file.size } ?? false
        guard header.claimed.storedSize <= file.size || isBaseThere else {
            throw DataProtectionError(
                .truncated, file.path,
                "\(header.claimed.storedSize - file.size) bytes of the file are missing at its end")
        }
        return header
    }

    /// - Throws: `.changedMeanwhile` if a program has written to it that does not look at locks.
    func requireUnchanged() throws(DataProtectionError) {
        guard file.identity.isUnchanged() else {
            throw DataProtectionError(
                .changedMeanwhile, file.path, "another program has changed it meanwhile; nothing was copied, try again")
        }
    }
}
