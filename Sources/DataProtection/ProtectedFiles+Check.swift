public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

extension ProtectedFiles {
    /// Opens everything there is of a file, and tells what does not open and what that means.
    ///
    /// Nothing is changed. Programs that change the file in place wait until the check is over, and a file that one of
    /// them is writing is looked at between two writes.
    ///
    /// - Parameters:
    ///   - url: A link is followed.
    ///   - progress: Told now and then.
    /// - Throws: `.locked` if the class's key is locked away: such a file is not checked, and not damaged. `.notProtected`
    ///   also for one whose first page has nothing of a header any more; `.wrongKey`, `.newerFormat`.
    public func check(
        _ url: URL, progress: (Progress) -> Void = { _ in }
    ) throws(DataProtectionError) -> ProtectedFileCheck {
        try examine(try OpenFile(reading: try FilePath.of(url)), progress).result
    }

    /// Checks a file and, if it is damaged, writes what opens to a new protected file of the same class: all that opens
    /// in its place, and zeros where ``ProtectedFileCheck/lost`` says so.
    ///
    /// An intact file is not copied, nor one of which nothing opens: ``ProtectedFileCheck/isSalvaged`` says it.
    ///
    /// - Parameters:
    ///   - url: The damaged file, which stays as it is.
    ///   - new: Where nothing may be yet: EEXIST.
    ///   - progress: Told now and then, once more from the beginning when it writes.
    /// - Throws: as ``check(_:progress:)``, and if the new file cannot be written.
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
        // What was found when it was written, in the place of what was found before.
        var result = examined.result(check)
        result.isSalvaged = true
        return result
    }

    /// Writes a copy of the header that is not whole anew, from the other one. Nothing else is changed.
    ///
    /// - Returns: false if there is nothing that could be done: both are whole, or none is.
    /// - Throws: as ``check(_:progress:)``; `.changedMeanwhile` if the path leads to another file by now.
    @discardableResult
    public func repairHeader(of url: URL) throws(DataProtectionError) -> Bool {
        let file = try open(url, O_RDWR)
        try file.lockHeader()
        guard file.identity.isStillNamed() else {
            throw DataProtectionError(
                .changedMeanwhile, file.path, "another program has replaced the file meanwhile; nothing was changed")
        }
        let page = try file.firstPage()
        guard page.count == FileFormat.headerByteCount else { return false }
        let copies = try HeaderCopies(page, file.path, keys)
        guard let broken = copies.repairable, let whole = copies.verified.first else { return false }
        var header = whole.header
        guard !header.isDurable else {
            try replaceHeader(broken, by: header, whole.fileKey, of: file)
            return true
        }
        // The other copy was the one to go back to after a crash of the system. In its place must come one that needs
        // no going back: all that it refers to is there, and on the disk.
        guard try contentIsWhole(file, whole), files.sync(file.descriptor) == 0 else { return false }
        header.bootMark = FileHeader.BootMark()
        header.sequence += 1
        try replaceHeader(broken, by: header, whole.fileKey, of: file)
        try replaceHeader(1 - broken, by: header, whole.fileKey, of: file)
        return true
    }

    private func replaceHeader(
        _ number: Int, by header: FileHeader, _ fileKey: KeyMaterial, of file: borrowing OpenFile
    ) throws(DataProtectionError) {
        let (descriptor, path) = (file.descriptor, file.path)
        let result = header.encoded(fileKey: fileKey, slot: number).withUnsafeBytes { bytes in
            Result { () throws(DataProtectionError) in
                try files.writeAll(bytes, to: descriptor, at: UInt64(FileFormat.slotOffsets[number]), path)
            }
        }
        try result.get()
        guard files.sync(descriptor) == 0 else { throw .system("write", path) }
    }

    private func contentIsWhole(
        _ file: borrowing OpenFile, _ whole: VerifiedHeader
    ) throws(DataProtectionError) -> Bool {
        guard try file.presentSize() >= whole.header.storedSize else { return false }
        return try walk(file, whole, { _ in }, nil).flaws.all.isEmpty
    }

    // MARK: Which header, and what it refers to

    /// What was found, and by which header.
    private struct Examined {
        let result: ProtectedFileCheck
        /// nil: no header says how to open the file.
        let chosen: VerifiedHeader?
        let report: CheckReport

        func result(_ check: SealedFileCheck) -> ProtectedFileCheck { report.result(check) }
    }

    private func examine(
        _ file: borrowing OpenFile, _ progress: (Progress) -> Void
    ) throws(DataProtectionError) -> Examined {
        // Until the descriptor is closed.
        try file.shareHeader()
        let copies = try HeaderCopies(try file.firstPage(), file.path, keys)
        var report = CheckReport(copies)
        let size = try file.presentSize()
        guard let newest = copies.verified.first else {
            return Examined(result: report.resultWithoutHeader, chosen: nil, report: report)
        }
        var (chosen, check) = (newest, try walk(file, newest, progress, nil))
        if let other = copies.verified.dropFirst().first, other.header != newest.header {
            let isForeign = other.header.key.fileID != newest.header.key.fileID
            let isAmbiguous = isForeign || other.header.sequence == newest.header.sequence
            let isUncertain = newest.isOfAnotherStart(bootID)
            let isBase = !newest.header.isDurable
            // As for who opens it.
            let isCut = size < newest.header.storedSize
            let gives = isUncertain && (isCut || check.newestLost > other.header.writeCount)
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
                } else if isBase, !otherCheck.flaws.all.isEmpty {
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
        let (descriptor, size) = (file.descriptor, try file.presentSize())
        if size > 1 << 20 { posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
        return try SealedFileCheck.run(
            descriptor, path, size: size, header: chosen.header, fileKey: chosen.fileKey, sink
        ) { (done) throws(DataProtectionError) in
            progress(Progress(completed: done, total: length))
            try window.check(path)
        }
    }
}

extension OpenFile {
    /// Waits until nobody changes the header; from then on nobody does until this is closed.
    fileprivate func shareHeader() throws(DataProtectionError) {
        let failure = ckeychain_await_shared_lock(descriptor, Int64(FileFormat.headerByteCount))
        guard failure == 0 else { throw .system("lock", path, errno: failure) }
    }

    /// That it has now, which a writer may have changed since it was opened.
    fileprivate func presentSize() throws(DataProtectionError) -> UInt64 {
        try FilePath.size(of: descriptor, path)
    }
}
