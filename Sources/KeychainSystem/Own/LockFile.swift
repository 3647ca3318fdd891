package import FoundationEssentials
internal import Glibc
internal import KeychainModel
package import Synchronization

/// A file that processes lock to take turns.
package enum LockFile {
    /// Longer than any process has it: the derivation of a passcode takes a third of a second.
    private static let patience = Duration.seconds(60)

    /// Runs `body` while no other process holds the lock, and waits for the one that does.
    ///
    /// - Throws: `.notAvailable` if that takes longer than a minute: a process that was stopped may hold it for ever.
    ///
    /// The file is left behind: removing it would let two processes hold it at once.
    package static func withLock<R>(_ url: URL, _ files: any FileSystem, _ body: () throws -> R) throws -> R {
        let end = ContinuousClock.now + patience
        while true {
            let file = try lock(url, files, until: end)
            // A forked child may have it open too, and would keep the lock.
            defer {
                flock(file, LOCK_UN)
                close(file)
            }
            // A repair puts another directory in the place of the store's; then this is the old one's.
            if isInPlace(file, url) { return try body() }
        }
    }

    /// Whether a file that is open is still the one of that name.
    package static func isInPlace(_ file: Int32, _ url: URL) -> Bool {
        var open = stat()
        return fstat(file, &open) == 0 && FileNumber(open) == FileNumber(url.path)
    }

    // MARK: Waiting

    /// Told again and again of the file that is waited for, and for how long it was, before anything is done. The
    /// function is for a program with one person.
    package static let isWaiting = Mutex<(@Sendable (URL, Duration) -> Void)?>(nil)

    /// A process that has a file locked.
    package struct Holder: CustomStringConvertible {
        let number: Int32
        let name: String

        package var description: String { "\(name) (process \(number))" }
    }

    /// The process that has a file locked; nil: none has, or it cannot be told which. (proc_locks(5))
    package static func holder(of url: URL) -> Holder? {
        var status = stat()
        guard lstat(url.path, &status) == 0, let text = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
        else { return nil }
        for line in text.split(separator: "\n") {
            // "1: FLOCK ADVISORY WRITE 4711 08:02:131 0 EOF"; with "->" behind the number it only waits.
            let words = line.split(separator: " ")
            guard words.count >= 8, words[1] == "FLOCK", let number = Int32(words[4]), number > 0,
                words[5].split(separator: ":").last == "\(status.st_ino)", hasOpen(number, words[5], status)
            else { continue }
            let name = (try? String(contentsOfFile: "/proc/\(number)/comm", encoding: .utf8)) ?? ""
            return Holder(number: number, name: name.isEmpty ? "a program" : String(name.dropLast()))
        }
        return nil
    }

    /// Another device has a file of the same number. Some file systems show each file a device of its own, which the list of
    /// locks does not have: there the files tell that the process has open.
    private static func hasOpen(_ number: Int32, _ place: Substring, _ status: stat) -> Bool {
        let (major, minor) = (status.st_dev >> 8 & 0xfff, status.st_dev & 0xff | status.st_dev >> 12 & 0xfff00)
        if place.split(separator: ":").prefix(2).map({ UInt($0, radix: 16) }) == [major, minor] { return true }
        let directory = "/proc/\(number)/fd"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.contains { FileNumber("\(directory)/\($0)") == FileNumber(status) }
    }

    private static func lock(
        _ url: URL, _ files: any FileSystem, until end: ContinuousClock.Instant
    ) throws(KeychainError) -> Int32 {
        let file = try OwnFile.make(url, through: files)
        let start = ContinuousClock.now
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno
            guard failure == EWOULDBLOCK || failure == EINTR else {
                close(file)
                throw KeychainError(file: "lock", url, failure)
            }
            guard ContinuousClock.now < end else {
                close(file)
                throw KeychainError(
                    .notAvailable,
                    message: (holder(of: url)?.description ?? "another process")
                        + " has been using \(url.path) for a minute; try again")
            }
            isWaiting.withLock { $0 }?(url, ContinuousClock.now - start)
            usleep(5_000)
        }
        return file
    }
}
