internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The change of a file by a set-up, and the way to take it back.
package struct SetupChange: Codable, Equatable {
    package let path: String
    let content: SetupContent
    /// Whether there was no such file.
    private(set) var isNew: Bool
    /// The directories of the file that set-ups have made, the outermost first.
    private(set) var newDirectories: [String] = []

    init(_ file: SetupFile, _ content: SetupContent) {
        (path, self.content, isNew) = (file.path, content, file.content == nil)
    }

    init(link path: String, to target: String) {
        (self.path, content, isNew) = (path, .link(target: target), true)
    }

    /// The lines that show the change to a person.
    package var lines: (removed: [String], added: [String]) { content.lines }

    var isLink: Bool { if case .link = content { true } else { false } }

    /// This change as a record keeps it.
    ///
    /// - Parameters:
    ///   - former: An earlier change of the same file.
    ///   - made: The directories that set-ups have made. Each of them is in the record of every file in it, so that it
    ///     goes with the last of these files.
    func recorded(after former: SetupChange?, _ made: Set<String>) -> SetupChange {
        var change = self
        change.isNew = isNew || former?.isNew == true
        var directory = FilePath.directory(of: path)
        while directory != "/", made.contains(directory) || (!FilePath.exists(directory) && errno == ENOENT) {
            change.newDirectories.insert(directory, at: 0)
            directory = FilePath.directory(of: directory)
        }
        return change
    }

    // MARK: Making it

    /// - Throws: ``SetupFailure`` if another program's change of the file has made this one impossible.
    func make(_ surroundings: SetupSurroundings) throws {
        for directory in newDirectories where mkdir(directory, 0o700) != 0 && errno != EEXIST {
            throw KeychainError(file: directory, "make", errno)
        }
        if case .link(let target) = content {
            guard symlink(target, path) == 0 else { throw KeychainError(file: path, "make", errno) }
        } else {
            _ = try carryOut(surroundings) { .bytes(try content.applied(to: $0.content ?? Data())) }
        }
    }

    /// The fate of a file.
    private enum Outcome {
        case same
        case bytes(Data)
        case gone
    }

    private static let tries = 20

    /// Plans a change of the file, and makes it while the tool itself does not change the file. git fails where it
    /// finds the lock, so the lock is not held during the plan. If the file changes meanwhile, the plan is made anew.
    ///
    /// - Returns: false: the file stays as it is.
    private func carryOut(_ surroundings: SetupSurroundings, _ plan: (SetupFile) throws -> Outcome) throws -> Bool {
        for _ in 0..<Self.tries {
            let file = try SetupFile(path)
            let outcome = try naming { try plan(file) }
            if case .same = outcome { return false }
            let isDone = try withLock(surroundings) {
                guard try SetupFile(path).content == file.content else { return false }
                if case .bytes(let new) = outcome {
                    try file.replace(with: new)
                } else if unlink(file.path) != 0 {
                    throw KeychainError(file: path, "remove", errno)
                }
                return true
            }
            if isDone { return true }
        }
        throw SetupFailure(message: "\(path) is changed by another program all the time: try again")
    }

    /// Does `body` while the tool itself does not change the file, if the tool has a lock.
    private func withLock<R>(_ surroundings: SetupSurroundings, _ body: () throws -> R) throws -> R {
        if case .value = content { try GitLock(of: path, surroundings.note).withLock(body) } else { try body() }
    }

    /// Does `body`, whose failures are ends of sentences that begin with the file.
    private func naming<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as SetupFailure {
            throw SetupFailure(message: "\(path) \(error.message). Change the file by hand")
        }
    }

    // MARK: Taking it back

    /// - Returns: false: nothing of the change is there any more.
    /// - Throws: ``SetupFailure`` if the setting is there in another form. Then the file is left as it is.
    func takeBack(_ surroundings: SetupSurroundings) throws -> Bool {
        if case .link(let target) = content {
            guard Self.target(of: path) == target else { return false }
            guard unlink(path) == 0 else { throw KeychainError(file: path, "remove", errno) }
            return true
        }
        guard FilePath.permits(path, F_OK) else { return false }
        return try carryOut(surroundings) { file in
            guard let present = file.content, let former = try content.takenBack(from: present) else { return .same }
            return isNew && content.isNothing(former) ? .gone : .bytes(former)
        }
    }

    /// Removes the new directories that are empty.
    func removeDirectories() { for directory in newDirectories.reversed() { rmdir(directory) } }

    /// Removes the unfinished file of a command that was killed. A path that leads to no proper file has none; the
    /// change itself tells of such a path.
    func removeLeftover() throws {
        if isLink { return }
        if case .value = content { GitLock(of: path).removeLeftover() }
        do { try SetupFile(path).removeLeftover() } catch is SetupFailure {}
    }

    /// nil: the file is no link, or leads to a name that is not UTF-8.
    static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count < 0 ? nil : String(validating: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
