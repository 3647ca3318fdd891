internal import Foundation
internal import KeychainKeys
internal import KeychainModel
internal import KeychainSystem

/// A file that a set-up changes, and how that is taken back.
struct SetupChange: Codable, Equatable {
    let path: String
    let content: SetupContent
    /// Whether there was no such file.
    private(set) var isNew: Bool
    /// Those of its directories that were not there either, the outermost first.
    var newDirectories: [String]
    /// The change of the file's bytes. nil: it was not made, or the command was ended before this was written down.
    private(set) var trace: Trace?

    /// Enough to have the former file back, as long as nobody changes the new one.
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

    var isLink: Bool { if case .link = content { true } else { false } }

    /// The same, with that in it which an earlier change of the file began with.
    func inheriting(_ former: SetupChange) -> SetupChange {
        var change = self
        change.isNew = isNew || former.isNew
        change.newDirectories = former.newDirectories + newDirectories.filter { !former.newDirectories.contains($0) }
        return change
    }

    // MARK: Making it

    /// - Throws: ``ToolFailure`` if the file was changed since this was planned, so that it cannot be made any more.
    mutating func make() throws {
        for directory in newDirectories where mkdir(directory, 0o700) != 0 && errno != EEXIST {
            throw KeychainError(file: directory, "make", errno)
        }
        if case .link(let target) = content {
            guard symlink(target, path) == 0 else { throw KeychainError(file: path, "make", errno) }
            return
        }
        trace = try carryOut { file in
            let former = file.content ?? Data()
            let new = try naming { try content.applied(to: former) }
            let trace = TextEdit(from: former, to: new).map { Trace(edit: $0, digest: Self.digest(new)) }
            return (trace, { try file.replace(with: new) })
        }
    }

    private static let tries = 20

    /// Plans a change of the file, and makes it while the tool itself does not change the file. git fails where it finds the
    /// lock, so that the lock is not held while the change is planned; a file that has changed meanwhile is planned for anew.
    private func carryOut<R>(_ plan: (SetupFile) throws -> (result: R, change: () throws -> Void)) throws -> R {
        for _ in 0..<Self.tries {
            let file = try SetupFile(path)
            let (result, change) = try plan(file)
            let isDone = try withLock {
                guard try SetupFile(path).content == file.content else { return false }
                try change()
                return true
            }
            if isDone { return result }
        }
        throw ToolFailure(message: "\(path) is changed by another program all the time: try again")
    }

    /// Does `body` while the tool itself does not change the file, as far as it has a lock.
    private func withLock<R>(_ body: () throws -> R) throws -> R {
        if case .value = content { try GitLock(of: path).withLock(body) } else { try body() }
    }

    private static func digest(_ bytes: Data) -> Data { DigestAlgorithm.sha256.digest(of: bytes) }

    // MARK: Taking it back

    /// - Returns: false: nothing of it is there any more.
    /// - Throws: ``ToolFailure`` if it is there in another form: then the file is left as it is.
    func takeBack() throws -> Bool {
        if case .link(let target) = content {
            guard Self.target(of: path) == target else { return false }
            guard unlink(path) == 0 else { throw KeychainError(file: path, "remove", errno) }
            return true
        }
        return FilePath.permits(path, F_OK) ? try carryOut(planToTakeBack) : false
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
        do { return try body() } catch let error as ToolFailure {
            throw ToolFailure(message: error.message.map { "\(path) \($0). Change the file by hand" })
        }
    }

    /// Removes the unfinished file of a command that was killed. A path where there is no such file any more has none, and
    /// is told of when it is to be changed.
    func removeLeftover() throws {
        if isLink { return }
        if case .value = content { GitLock(of: path).removeLeftover() }
        do { try SetupFile(path).removeLeftover() } catch is ToolFailure {}
    }

    /// nil: it is no link, or leads to a name that is not UTF-8.
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

    /// - Throws: ``ToolFailure``, with the end of a sentence that begins with the file, if that is not possible any more.
    func applied(to content: Data) throws -> Data {
        switch self {
        case .line(let setting): try setting.applied(to: content)
        case .member(let member): try member.applied(to: content)
        case .value(let value): try value.applied(to: content)
        case .link: content
        }
    }

    /// nil: nothing of it is there.
    ///
    /// - Throws: ``ToolFailure``, as ``applied(to:)`` does, if it is there in another form.
    func takenBack(from content: Data) throws -> Data? {
        switch self {
        case .line(let setting): try setting.takenBack(from: content)
        case .member(let member): try member.takenBack(from: content)
        case .value(let value): try value.takenBack(from: content)
        case .link: nil
        }
    }

    /// Whether a file with this content says no more than none.
    func isNothing(_ content: Data) -> Bool {
        let text = String(decoding: content, as: UTF8.self)
        if text.allSatisfy(\.isWhitespace) { return true }
        if case .member = self { return JSONText(text)?.isEmpty ?? false }
        return false
    }

    /// As a person is shown it.
    var lines: (removed: [String], added: [String]) {
        switch self {
        case .line(let setting): ([setting.replaced].compactMap(\.self), [setting.line])
        case .member(let member): ([member.replacedLine].compactMap(\.self), [member.line])
        case .value(let value): ([], [value.line])
        case .link(let target): ([], ["link to \(target)"])
        }
    }
}
