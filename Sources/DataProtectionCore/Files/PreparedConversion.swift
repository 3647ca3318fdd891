internal import Glibc
internal import SealedFiles

/// A file that is encrypted or decrypted already, beside the file whose place it is to take.
final class PreparedConversion {
    private let file: OpenFile
    private let exclusion: WriterExclusion
    /// The new file. `nil` means that it has its place, or was given up.
    private var new: Replacement?

    /// Takes the old file, the new one, and the exclusion of writers.
    ///
    /// - Parameter exclusion: The exclusion of the old file, which holds since before the file was read.
    init(
        of file: consuming OpenFile, by new: consuming Replacement, _ exclusion: WriterExclusion
    ) {
        self.file = file
        self.exclusion = exclusion
        self.new = consume new
    }

    var path: String { file.path }
    var device: dev_t { file.status.st_dev }

    /// Opens the directory of the file. The caller closes it. `nil` means that it may not be read.
    func openDirectory() throws(DataProtectionError) -> Int32? {
        switch new {
        case .some(let new): try new.openDirectory()
        case nil: nil
        }
    }

    /// Gives the new file its place, and forces the content and the name to the disk.
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
    ///   - forcesFile: Whether the file's mode, owner, times and attributes are forced to the disk.
    ///   - forcesDirectory: Whether the file's name is forced to the disk.
    func takePlace(forcesFile: Bool, forcesDirectory: Bool) throws(DataProtectionError) {
        guard var new = new.take() else { return }
        // The directory is opened before anything is changed. One that may be written and not read cannot be forced to
        // the disk.
        let directory = forcesDirectory ? try new.openDirectory() : nil
        defer { if let directory { close(directory) } }
        // The mode and the owner come as late as possible. The new file may be content in clear, and is its owner's
        // alone until then.
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
