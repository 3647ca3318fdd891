public import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem
public import SealedFiles

extension ProtectedFiles {
    /// Reads all of a file and tells which parts do not open, and why.
    ///
    /// ```swift
    /// let check = try files.check(url)
    /// print(check.isIntact ? "intact" : check.findings.map(\.text).joined(separator: "\n"))
    /// ```
    ///
    /// The file is not changed. Programs that change the file in place wait until the check is over. The check of a
    /// file that another program writes takes place between two writes.
    ///
    /// - Parameters:
    ///   - url: The file. A link is followed.
    ///   - progress: Called after each part, on this thread.
    /// - Returns: The findings. Damage is a finding and not an error.
    /// - Throws: `.locked` if the key of the file's class is locked away: the file is not checked then, and not
    ///   damaged. For the class ``FileProtection/complete`` a lock that comes during the check has this result after
    ///   ten seconds. `.notProtected` for a plain file, also for one whose header was overwritten. `.wrongKey`,
    ///   `.newerFormat` or `.keysUnavailable`.
    public func check(
        _ url: URL, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> ProtectedFileCheck {
        try examine(try OpenFile(reading: try FilePath.of(url)), progress).result
    }

    /// Checks a file and, if it is damaged, writes the content that opens to a new protected file of the same class.
    ///
    /// ```swift
    /// let saved = try files.salvage(url, to: rescued)
    /// if saved.isSalvaged { print("\(saved.lost.count) parts are zeros in the new file") }
    /// ```
    ///
    /// All content keeps its place in the new file. Zeros stand where ``ProtectedFileCheck/lost`` says so. An intact
    /// file is not copied, and neither is a file of which no part opens: ``ProtectedFileCheck/isSalvaged`` tells
    /// whether there is a copy.
    ///
    /// - Parameters:
    ///   - url: The damaged file, which stays as it is.
    ///   - new: The place of the new file. There must be no file yet.
    ///   - progress: Called after each part, on this thread. It begins at 0 a second time when the new file is written.
    /// - Returns: The findings.
    /// - Throws: The errors of ``check(_:progress:)``. `.system` with `EEXIST` if `new` exists, or another `.system` if
    ///   the new file cannot be written. No part of a new file is left then.
    public func salvage(
        _ url: URL, to new: URL, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> ProtectedFileCheck {
        let file = try OpenFile(reading: try FilePath.of(url))
        let target = try FilePath.of(new)
        let examined = try examine(file, progress)
        guard !examined.result.isIntact, let chosen = examined.chosen,
            examined.result.readable > 0 || chosen.header.length == 0
        else { return examined.result }
        var status = stat()
        guard lstat(target, &status) != 0 else { throw .system("create", target, errno: EEXIST) }
        let key = try keys.ask(.make(chosen.header.fileClass, fileID: UUID()), target)
        let copy = try Replacement(of: target, mode: 0o600, files)
        let writer = try SealedFileWriter(copy.descriptor, target, key: key, files: files, randomness: randomness)
        let check = try walk(file, chosen, progress) { (bytes) throws(DataProtectionError) in
            try writer.append(bytes)
        }
        try writer.finish()
        try copy.takeModeAndOwner(of: file.status, mustKeepOwner: false)
        try copy.takeTimes(of: file)
        try copy.publish(replaces: false, isDurable: true)
        // The findings of the second pass, which wrote the copy, take the place of those of the first.
        var result = examined.result(check)
        result.isSalvaged = true
        return result
    }

    /// Writes a damaged copy of the header again, from the intact copy. No other byte is changed.
    ///
    /// One intact copy is enough for reading, so the repair guards against further damage. If the disk need not have
    /// all that the intact copy refers to, the call first checks that all of it opens.
    ///
    /// - Parameter url: The file. A link is followed.
    /// - Returns: false if there was nothing to repair: both copies are intact, or neither is, or content that the
    ///   intact copy refers to does not open.
    /// - Throws: The errors of ``check(_:progress:)``. `.changedMeanwhile` if the path leads to another file by now.
    ///   The call waits for programs that write to the file.
    @discardableResult
    public func repairHeader(of url: URL) throws(DataProtectionError) -> Bool {
        let file = try open(url, O_RDWR)
        try HeaderLock.exclusive.take(file.descriptor, file.path)
        try file.identity.requireStillNamed()
        let page = try file.firstPage()
        guard page.count == FileFormat.headerByteCount else { return false }
        let copies = try HeaderCopies(page, file.path, environment().keys)
        guard let broken = copies.repairable, let whole = copies.verified.first else { return false }
        var header = whole.header
        let writer = HeaderWriter(file: file.descriptor, path: file.path, fileKey: whole.fileKey, files: files)
        func replace(_ slot: Int) throws(DataProtectionError) {
            try writer.write(header, slot: slot)
            guard files.sync(writer.file) == 0 else { throw .system("write", writer.path) }
        }
        guard !header.isDurable else {
            try replace(broken)
            return true
        }
        // The broken copy was the one to go back to after a crash of the system. Its replacement must need no such way
        // back: all content that it refers to has to open, and to be on the disk.
        guard try contentIsWhole(file, whole), files.sync(file.descriptor) == 0 else { return false }
        header.bootMark = FileHeader.BootMark()
        header.sequence += 1
        try replace(broken)
        try replace(1 - broken)
        return true
    }

    private func contentIsWhole(
        _ file: borrowing OpenFile, _ whole: VerifiedHeader
    ) throws(DataProtectionError) -> Bool {
        guard whole.header.flaw(ofSize: try file.presentSize()) == nil else { return false }
        return try walk(file, whole, { _ in }, nil).flaws.isEmpty
    }

    // MARK: Which header, and what it refers to

    /// The findings, and the header that they are about.
    private struct Examined {
        let result: ProtectedFileCheck
        /// `nil` means that no header says how to open the file.
        let chosen: VerifiedHeader?
        let report: CheckReport

        func result(_ check: SealedFileCheck) -> ProtectedFileCheck { report.result(check) }
    }

    private func examine(
        _ file: borrowing OpenFile, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) -> Examined {
        try HeaderLock.shared.take(file.descriptor, file.path)
        let copies = try HeaderCopies(try file.firstPage(), file.path, environment().keys)
        var report = CheckReport(copies)
        let size = try file.presentSize()
        guard let newest = copies.verified.first else {
            return Examined(result: report.resultWithoutHeader, chosen: nil, report: report)
        }
        var (chosen, check) = (newest, try walk(file, newest, progress, nil))
        if let other = copies.verified.dropFirst().first, other.header != newest.header {
            let isForeign = other.header.key.fileID != newest.header.key.fileID
            let isAmbiguous = isForeign || other.header.sequence == newest.header.sequence
            let isBase = !newest.header.isDurable
            let judgement = HeaderJudgement<UInt64>(
                newest: newest.header, former: other.header, mark: newest.bootMark(of: bootID), size: size
            ) { check.newestLost > $0 ? check.newestLost : nil }
            let gives = judgement.header.sequence != newest.header.sequence
            if isAmbiguous || gives || check.readable == 0 && newest.header.length > 0 || isBase {
                let otherCheck = try walk(file, other, progress, nil)
                if isAmbiguous {
                    report.add(contradiction: isForeign)
                    if otherCheck.readable > check.readable { (chosen, check) = (other, otherCheck) }
                } else if gives {
                    report.addInterruption()
                    (chosen, check) = (other, otherCheck)
                } else if check.readable == 0, newest.header.length > 0, otherCheck.readable > 0 {
                    report.addUselessNewest()
                    (chosen, check) = (other, otherCheck)
                } else if isBase, !otherCheck.flaws.isEmpty {
                    report.add(formerState: otherCheck.flaws)
                }
            }
            report.addIfUnfinished(newest.header, other.header)
        }
        report.add(size: size, of: chosen.header)
        return Examined(result: report.result(check), chosen: chosen, report: report)
    }

    private func walk(
        _ file: borrowing OpenFile, _ chosen: VerifiedHeader, _ progress: (Progress) -> Void,
        _ sink: ContentSink?
    ) throws(DataProtectionError) -> SealedFileCheck {
        var window = window(chosen.header.fileClass)
        let (path, length) = (file.path, chosen.header.length)
        file.willBeRead()
        let cipher = FileCipher(fileKey: chosen.fileKey, fileID: chosen.header.key.fileID)
        let reader = SealedFileReader(file.descriptor, path, header: chosen.header, cipher: cipher)
        return try SealedFileCheck(reader, sink) { (done) throws(DataProtectionError) in
            progress(Progress(completed: done, total: length))
            try window.check(path)
        }
    }
}

extension OpenFile {
    /// The size of the file now. A writer may have changed it since the file was opened.
    fileprivate func presentSize() throws(DataProtectionError) -> UInt64 {
        try FilePath.size(of: descriptor, path)
    }
}
