internal import Glibc

/// A file that is encrypted or decrypted already, beside the one whose place it is to take.
final class PreparedConversion {
    private let file: OpenFile
    private let exclusion: WriterExclusion
    /// nil: it has its place, or was given up.
    private var new: Replacement?

    /// - Parameter exclusion: Of the old file, since before it was read.
    init(
        of file: consuming OpenFile, by new: consuming Replacement, _ exclusion: WriterExclusion
    ) {
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
        try force()
        try takePlace(forcesFile: true, forcesDirectory: true)
    }

    // MARK: Its steps, for several at a time

    /// Forces the new file's content to the disk.
    func force() throws(DataProtectionError) {
        switch new {
        case .some(let new): try new.force()
        case nil: break
        }
    }

    /// Gives the new file its place.
    ///
    /// - Parameters:
    ///   - forcesFile: Whether to force to the disk what it is besides its content.
    ///   - forcesDirectory: And that it has its name.
    func takePlace(forcesFile: Bool, forcesDirectory: Bool) throws(DataProtectionError) {
        guard var new = new.take() else { return }
        // Before anything is changed. A directory that may be written and not read cannot be forced to the disk.
        let directory = forcesDirectory ? try new.openDirectory() : nil
        defer { if let directory { close(directory) } }
        // As late as can be: it may be content in clear, which until then is its owner's alone.
        try new.takeEverything(of: file)
        try new.takeTimes(of: file)
        try exclusion.check()
        try new.requirePlace(of: file)
        guard file.identity.isUntouched() else {
            throw DataProtectionError(
                .changedMeanwhile, path, "another program has written to it meanwhile; nothing was changed")
        }
        try new.takeName()
        if forcesFile { try new.force() }
        if let directory { try Replacement.force(directory, path, new.files) }
    }
}
