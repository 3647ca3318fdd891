internal import Glibc

/// A file that is encrypted or decrypted already, beside the one whose place it is to take.
final class PreparedConversion {
    private let file: OpenFile
    private let exclusion: WriterExclusion
    /// nil: it has its place, or was given up.
    private var new: Replacement?

    /// Gives a new file all that the old one is besides its content.
    ///
    /// - Parameter exclusion: Of the old one, since before it was read.
    init(
        of file: consuming OpenFile, by new: consuming Replacement, _ exclusion: WriterExclusion
    ) throws(DataProtectionError) {
        try new.takeEverything(of: file)
        try new.takeTimes(of: file)
        self.file = file
        self.exclusion = exclusion
        self.new = consume new
    }

    var path: String { file.path }
    var device: dev_t { file.status.st_dev }
    /// Of the new file, to be used while this exists; -1: it has its place already.
    var descriptor: Int32 {
        switch new {
        case .some(let new): new.descriptor
        case nil: -1
        }
    }

    /// Of the file; the caller closes it. nil: it may not be read.
    func openDirectory() throws(DataProtectionError) -> Int32? {
        switch new {
        case .some(let new): try new.openDirectory()
        case nil: nil
        }
    }

    /// Gives the new file its place, and forces both to the disk.
    func publish() throws(DataProtectionError) {
        guard let new = new.take() else { return }
        try new.publish(isDurable: true) { () throws(DataProtectionError) in try requireUnchanged() }
    }

    // MARK: Its steps, for several at a time

    /// Forces the new file to the disk.
    func force() throws(DataProtectionError) {
        switch new {
        case .some(let new): try new.force()
        case nil: break
        }
    }

    /// Gives the new file its place. Not forced to the disk.
    func takePlace() throws(DataProtectionError) {
        guard var new = new.take() else { return }
        try requireUnchanged()
        try new.takeName()
    }

    private func requireUnchanged() throws(DataProtectionError) {
        try exclusion.check()
        guard file.identity.isUnchanged() else {
            throw DataProtectionError(
                .changedMeanwhile, path, "another program has written to it meanwhile; nothing was changed")
        }
    }
}
