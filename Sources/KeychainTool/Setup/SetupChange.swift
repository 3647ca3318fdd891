internal import Foundation
internal import KeychainModel
internal import KeychainSystem

/// Something that a set-up changes, and how it is taken back.
enum SetupChange: Equatable {
    case edit(path: String, TextEdit, isNew: Bool)
    /// A new symbolic link.
    case link(path: String, target: String)

    var path: String {
        switch self {
        case .edit(let path, _, _), .link(let path, _): path
        }
    }

    /// - Returns: The directories that it made, the outermost first.
    func make() throws -> [String] {
        let made = try Self.makeDirectories(FilePath.directory(of: path))
        switch self {
        case .edit(_, let edit, _):
            let file = try SetupFile(path)
            try file.replace(with: edit.applied(to: file.content ?? Data()))
        case .link(_, let target):
            guard symlink(target, path) == 0 else { throw KeychainError(file: path, "make", errno) }
        }
        return made
    }

    private static func makeDirectories(_ path: String) throws -> [String] {
        var made: [String] = []
        var missing = path
        while access(missing, F_OK) != 0, errno == ENOENT, missing != "/" {
            made.insert(missing, at: 0)
            missing = FilePath.directory(of: missing)
        }
        for directory in made where mkdir(directory, 0o755) != 0 && errno != EEXIST {
            throw KeychainError(file: directory, "make", errno)
        }
        return made
    }

    /// - Throws: ``ToolFailure`` if what was changed is not there any more: then nothing is changed.
    func takeBack() throws {
        switch self {
        case .edit(_, let edit, let isNew):
            let file = try SetupFile(path)
            // The person has removed the file: there is nothing of ours.
            guard let content = file.content else { return }
            guard let former = edit.takenBack(from: content) else {
                throw ToolFailure(
                    message: "\(path) was changed since, and this is not in it once: "
                        + "\(String(decoding: edit.inserted, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))"
                        + ". Change the file by hand; the rest was undone")
            }
            if isNew && former.isEmpty {
                guard unlink(file.path) == 0 else { throw KeychainError(file: path, "remove", errno) }
            } else {
                try file.replace(with: former)
            }
        case .link(_, let target):
            guard Self.target(of: path) == target else { return }
            guard unlink(path) == 0 else { throw KeychainError(file: path, "remove", errno) }
        }
    }

    /// nil: it is no link, or leads to a name that is not UTF-8.
    static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count < 0 ? nil : String(validating: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SetupChange: Codable {
    private enum CodingKeys: String, CodingKey { case path, offset, removed, inserted, isNew, target }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        switch self {
        case .edit(_, let edit, let isNew):
            try container.encode(edit.offset, forKey: .offset)
            try container.encode(edit.removed, forKey: .removed)
            try container.encode(edit.inserted, forKey: .inserted)
            try container.encode(isNew, forKey: .isNew)
        case .link(_, let target): try container.encode(target, forKey: .target)
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let path = try container.decode(String.self, forKey: .path)
        if let target = try container.decodeIfPresent(String.self, forKey: .target) {
            self = .link(path: path, target: target)
            return
        }
        var edit = TextEdit(offset: max(0, try container.decode(Int.self, forKey: .offset)), inserting: "")
        edit.removed = try container.decode(Data.self, forKey: .removed)
        edit.inserted = try container.decode(Data.self, forKey: .inserted)
        self = .edit(path: path, edit, isNew: try container.decode(Bool.self, forKey: .isNew))
    }
}
