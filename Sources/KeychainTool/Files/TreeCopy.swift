internal import DataProtection
internal import Foundation
internal import Glibc
internal import KeychainModel

/// Where the copies of files and trees go: each under its last name, in one directory.
///
/// Directories are made when something in them comes, and get the mode, times and attributes of their originals when all
/// is in them.
final class TreeCopy {
    private struct Level {
        let source: String
        let copy: String
    }

    private let directory: String
    private let files: ProtectedFiles
    private let storeFiles: StoreFiles
    /// Of each path that was named.
    private let copies: [String: String]
    /// From the top down to the present one.
    private var levels: [Level] = []
    /// A directory that could not be made: nothing below it is copied.
    private var blocked: String?
    /// What killed programs had left.
    private(set) var leftovers = 0

    /// - Throws: if two of the paths have the same last name, or a copy would be within its original.
    init(
        of paths: [String], into directory: String, _ files: ProtectedFiles, _ storeFiles: StoreFiles
    ) throws(FileFailure) {
        self.directory = directory
        self.files = files
        self.storeFiles = storeFiles
        var copies: [String: String] = [:]
        var sources: [String: String] = [:]
        for path in paths {
            let copy = Self.join(directory, Self.lastName(of: path))
            if let other = sources[copy], other != path {
                throw FileFailure(
                    path, .parameter, "\(other) has the same last name: copy them to two directories")
            }
            (copies[path], sources[copy]) = (copy, path)
        }
        self.copies = copies
        for path in paths { try requireOutside(path) }
    }

    /// Makes the directory that all copies go to, if it is not there.
    func begin() throws(FileFailure) {
        if storeFiles.belong(in: directory) { throw StoreFiles.refusal(of: directory) }
        try open(directory)
    }

    // MARK: Places

    /// Where something is copied that is, or is below, a path that was named.
    func place(of path: String, below root: String) -> String {
        let rest = String(decoding: path.utf8.dropFirst(root.utf8.count), as: UTF8.self)
        let copy = copies[root]!  // it was named
        return rest.isEmpty ? copy : Self.join(copy, rest.hasPrefix("/") ? String(rest.dropFirst()) : rest)
    }

    private static func join(_ directory: String, _ name: String) -> String {
        name.isEmpty ? directory : directory + (directory.hasSuffix("/") ? "" : "/") + name
    }

    /// Of what a path means: that of `.` is its directory's name. The root has none.
    private static func lastName(of path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard ["", ".", ".."].contains(name) else { return name }
        let real = realpath(path, nil)
        defer { free(real) }
        return real.map { String(cString: $0) }?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// A tree that is copied into itself has no end.
    private func requireOutside(_ path: String) throws(FileFailure) {
        var source = stat()
        guard stat(path, &source) == 0, source.st_mode & S_IFMT == S_IFDIR else { return }
        var status = stat()
        var place = stat(directory, &status) == 0 ? directory : parentDirectory(of: directory)
        while stat(place, &status) == 0 {
            if status.st_ino == source.st_ino && status.st_dev == source.st_dev {
                throw FileFailure(path, .parameter, "\(directory) is within it: copy to a directory elsewhere")
            }
            let above = place + "/.."
            var next = stat()
            guard stat(above, &next) == 0, next.st_ino != status.st_ino || next.st_dev != status.st_dev else { return }
            place = above
        }
    }

    // MARK: Directories

    /// To be called with each directory, before what is in it.
    func enter(_ path: String, below root: String) throws(FileFailure) {
        if isBlocked(path) { return }
        let copy = place(of: path, below: root)
        do throws(FileFailure) {
            if storeFiles.belong(in: copy) { throw StoreFiles.refusal(of: copy) }
            var (source, present) = (stat(), stat())
            if stat(path, &source) == 0, stat(copy, &present) == 0, source.st_ino == present.st_ino,
                source.st_dev == present.st_dev
            {
                throw FileFailure(path, .parameter, "the copy would take its own place")
            }
            try open(copy)
            levels.append(Level(source: path, copy: copy))
        } catch {
            blocked = path
            throw FileFailure(path, blocking: error)
        }
    }

    /// To be called before each file and directory: what is not above it is finished.
    func leave(before path: String) throws(FileFailure) {
        while let last = levels.last, !Self.isBelow(path, last.source) { try finishLast() }
    }

    /// Finishes what is left.
    func end() throws(FileFailure) {
        while !levels.isEmpty { try finishLast() }
        blocked = nil
    }

    func isBlocked(_ path: String) -> Bool { blocked.map { Self.isBelow(path, $0) } ?? false }

    private static func isBelow(_ path: String, _ directory: String) -> Bool {
        path.utf8.starts(with: join(directory, "").utf8) && path.utf8.count > directory.utf8.count
            && (directory.hasSuffix("/") || path.utf8.dropFirst(directory.utf8.count).first == UInt8(ascii: "/"))
    }

    private func finishLast() throws(FileFailure) {
        let level = levels.removeLast()
        do throws(DataProtectionError) {
            try files.finishDirectory(level.copy, like: level.source)
        } catch {
            throw FileFailure(error)
        }
    }

    private func open(_ path: String) throws(FileFailure) {
        do throws(DataProtectionError) {
            try files.openDirectory(path)
        } catch {
            throw FileFailure(error, path: path)
        }
        // What cannot be removed is in nobody's way.
        leftovers += (try? files.removeLeftovers(in: URL(namedByPerson: path))) ?? 0
    }
}

extension FileFailure {
    /// Of a directory that nothing below is copied of.
    fileprivate init(_ path: String, blocking failure: FileFailure) {
        self.init(path: path, message: "\(failure.text); nothing below it was copied", status: failure.status)
    }
}
