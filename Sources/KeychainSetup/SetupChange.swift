internal import Foundation
internal import KeychainKeys
internal import KeychainModel
internal import KeychainSystem

/// The change of a file by a set-up, and the way to take it back.
package struct SetupChange: Codable, Equatable {
    package let path: String
    let content: SetupContent
    /// Whether there was no such file.
    private(set) var isNew: Bool
    /// The file's directories that were missing too, the outermost first.
    var newDirectories: [String]
    /// The change of the file's bytes. nil: the change was not made, or the command ended before it was recorded.
    private(set) var trace: Trace?

    /// The record that brings the former file back, as long as the new file does not change.
    struct Trace: Codable, Equatable {
        let edit: TextEdit
        /// SHA-256 of the new file.
        let digest: Data
    }

    init(_ file: SetupFile, _ content: SetupContent) {
        (path, self.content, isNew) = (file.path, content, file.content == nil)
        newDirectories = Self.missingDirectories(of: file.path)
    }

    init(link path: String, to target: String) {
        (self.path, content, isNew) = (path, .link(target: target), true)
        newDirectories = Self.missingDirectories(of: path)
    }

    private static func missingDirectories(of path: String) -> [String] {
        var missing: [String] = []
        var directory = FilePath.directory(of: path)
        while !FilePath.exists(directory), errno == ENOENT, directory != "/" {
            missing.insert(directory, at: 0)
            directory = FilePath.directory(of: directory)
        }
        return missing
    }

    /// The lines that show the change to a person.
    package var lines: (removed: [String], added: [String]) { content.lines }

    var isLink: Bool { if case .link = content { true } else { false } }

    /// This change, with the state of the file and its directories before an earlier change of the same file.
    func inheriting(_ former: SetupChange) -> SetupChange {
        var change = self
        change.isNew = isNew || former.isNew
        change.newDirectories = former.newDirectories + newDirectories.filter { !former.newDirectories.contains($0) }
        return change
    }

    // MARK: Making it

    /// - Throws: ``SetupFailure`` if another program's change of the file has made this one impossible.
    mutating func make(_ surroundings: SetupSurroundings) throws {
        for directory in newDirectories where mkdir(directory, 0o700) != 0 && errno != EEXIST {
            throw KeychainError(file: directory, "make", errno)
        }
        if case .link(let target) = content {
            guard symlink(target, path) == 0 else { throw KeychainError(file: path, "make", errno) }
            return
        }
        trace = try carryOut(surroundings) { file in
            let former = file.content ?? Data()
            let new = try naming { try content.applied(to: former) }
            let trace = TextEdit(from: former, to: new).map { Trace(edit: $0, digest: Self.digest(new)) }
            return (trace, { try file.replace(with: new) })
        }
    }

    private static let tries = 20

    /// Plans a change of the file, and makes it while the tool itself does not change the file. git fails where it
    /// finds the lock, so the lock is not held during the plan. If the file changes meanwhile, the plan is made anew.
    private func carryOut<R>(
        _ surroundings: SetupSurroundings, _ plan: (SetupFile) throws -> (result: R, change: () throws -> Void)
    ) throws -> R {
        for _ in 0..<Self.tries {
            let file = try SetupFile(path)
            let (result, change) = try plan(file)
            let isDone = try withLock(surroundings) {
                guard try SetupFile(path).content == file.content else { return false }
                try change()
                return true
            }
            if isDone { return result }
        }
        throw SetupFailure(message: "\(path) is changed by another program all the time: try again")
    }

    /// Does `body` while the tool itself does not change the file, if the tool has a lock.
    private func withLock<R>(_ surroundings: SetupSurroundings, _ body: () throws -> R) throws -> R {
        if case .value = content { try GitLock(of: path, surroundings.note).withLock(body) } else { try body() }
    }

    private static func digest(_ bytes: Data) -> Data { DigestAlgorithm.sha256.digest(of: bytes) }

    // MARK: Taking it back

    /// - Returns: false: nothing of the change is there any more.
    /// - Throws: ``SetupFailure`` if the setting is there in another form. Then the file is left as it is.
    func takeBack(_ surroundings: SetupSurroundings) throws -> Bool {
        if case .link(let target) = content {
            guard Self.target(of: path) == target else { return false }
            guard unlink(path) == 0 else { throw KeychainError(file: path, "remove", errno) }
            return true
        }
        return FilePath.permits(path, F_OK) ? try carryOut(surroundings, planToTakeBack) : false
    }

    private func planToTakeBack(_ file: SetupFile) throws -> (result: Bool, change: () throws -> Void) {
        guard let present = file.content, let former = try former(of: present) else { return (false, {}) }
        guard isNew && content.isNothing(former) else { return (true, { try file.replace(with: former) }) }
        return (true, { guard unlink(file.path) == 0 else { throw KeychainError(file: path, "remove", errno) } })
    }

    private func former(of present: Data) throws -> Data? {
        if let trace, trace.digest == Self.digest(present), trace.edit.isIn(present) {
            return trace.edit.takenBack(from: present)
        }
        return try naming { try content.takenBack(from: present) }
    }

    /// Does `body`, whose failures are ends of sentences that begin with the file.
    private func naming<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as SetupFailure {
            throw SetupFailure(message: "\(path) \(error.message). Change the file by hand")
        }
    }

    /// Removes the unfinished file of a command that was killed. A path that leads to no proper file has none; the
    /// change itself tells of such a path.
    func removeLeftover() throws {
        if isLink { return }
        if case .value = content { GitLock(of: path) { _ in }.removeLeftover() }
        do { try SetupFile(path).removeLeftover() } catch is SetupFailure {}
    }

    /// nil: the file is no link, or leads to a name that is not UTF-8.
    static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count < 0 ? nil : String(validating: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A setting, in the terms of the file's format.
enum SetupContent: Codable, Equatable {
    case line(ConfigurationSetting)
    case member(JSONMember)
    case value(GitValue)
    case link(target: String)

    /// - Throws: ``SetupFailure``, with the end of a sentence that begins with the file, if the setting is impossible.
    func applied(to content: Data) throws -> Data {
        switch self {
        case .line(let setting): try setting.applied(to: content)
        case .member(let member): try member.applied(to: content)
        case .value(let value): try value.applied(to: content)
        case .link: content
        }
    }

    /// nil: nothing of the setting is there.
    ///
    /// - Throws: ``SetupFailure``, as ``applied(to:)`` does, if the setting is there in another form.
    func takenBack(from content: Data) throws -> Data? {
        switch self {
        case .line(let setting): try setting.takenBack(from: content)
        case .member(let member): try member.takenBack(from: content)
        case .value(let value): try value.takenBack(from: content)
        case .link: nil
        }
    }

    /// Whether a file with this content means the same as no file.
    func isNothing(_ content: Data) -> Bool {
        let text = String(decoding: content, as: UTF8.self)
        if text.allSatisfy(\.isWhitespace) { return true }
        if case .member = self { return JSONText(text)?.isEmpty ?? false }
        return false
    }

    /// The lines that show the setting to a person.
    var lines: (removed: [String], added: [String]) {
        switch self {
        case .line(let setting): ([setting.replaced].compactMap(\.self), [setting.line])
        case .member(let member): ([member.replacedLine].compactMap(\.self), [member.line])
        case .value(let value): ([], [value.line])
        case .link(let target): ([], ["link to \(target)"])
        }
    }
}
