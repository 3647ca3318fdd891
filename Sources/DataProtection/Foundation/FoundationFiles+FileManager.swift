internal import DataProtectionCore
public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem

extension FoundationFiles {
    // MARK: Files

    /// The function behind `FileManager.contents(atPath:)`.
    ///
    /// - Returns: `nil` for every failure. A locked file cannot be told from a missing one here, so a program that must
    ///   know calls `Data(contentsOf:)`.
    public static func contents(_ manager: FileManager, atPath path: String) -> Data? {
        try? read(NamedFile(path: path)) {
            guard let data = manager.contents(atPath: path) else { throw CocoaError(.fileReadUnknown) }
            return data
        }
    }

    /// The function behind `FileManager.createFile(atPath:contents:attributes:)`.
    ///
    /// The new file has its class before it has content, so the content is never on the disk in clear. An attribute that
    /// cannot be set is ignored for a protected file.
    ///
    /// - Returns: false for every failure, including a class that is not known and a keychain that is locked.
    public static func createFile(
        _ manager: FileManager, atPath path: String, contents: Data?, attributes: [FileAttributeKey: Any]?
    ) -> Bool {
        do {
            let (asked, others) = try separated(attributes, path)
            guard let (file, protection) = try protected(NamedFile(path: path), path, asked) else {
                return manager.createFile(atPath: path, contents: contents, attributes: others)
            }
            try ProtectedFiles().write(contents ?? Data(), to: file.url, protection: protection)
            // Foundation accepts a file that did not get all of its attributes.
            if let others { try? manager.setAttributes(others, ofItemAtPath: path) }
            return true
        } catch {
            return false
        }
    }

    // MARK: Attributes

    /// The function behind `FileManager.setAttributes(_:ofItemAtPath:)`.
    ///
    /// `.protectionKey` encrypts a plain file, gives a protected file another class, and says which class new files in
    /// a directory get. The class is set first, so nothing is changed if it cannot be set.
    ///
    /// - Throws: `fileWriteUnknown` (512) for a class that is not known; `fileWriteNoPermission` (513) if the key is
    ///   locked away; otherwise Foundation's errors.
    public static func setAttributes(
        _ manager: FileManager, _ attributes: [FileAttributeKey: Any], ofItemAtPath path: String
    ) throws {
        try reporting(.writing) {
            let (asked, others) = try separated(attributes, path)
            if let asked { try setProtection(asked, of: NamedFile(path: path), path) }
            if let others { try manager.setAttributes(others, ofItemAtPath: path) }
        }
    }

    /// The function behind `FileManager.attributesOfItem(atPath:)`.
    ///
    /// `.protectionKey` is the class of a file, or the class that a directory gives. `.size` of a protected file is the
    /// length of its content. Both are the claims of the header, which opening the file verifies, so they are there
    /// while the keychain is locked. A symbolic link is described itself.
    ///
    /// - Throws: Foundation's errors.
    public static func attributesOfItem(
        _ manager: FileManager, atPath path: String
    ) throws -> [FileAttributeKey: Any] {
        var attributes = try manager.attributesOfItem(atPath: path)
        // A symbolic link is described itself.
        guard let file = NamedFile(path: path), attributes[.type] as? FileAttributeType != .typeSymbolicLink else {
            return attributes
        }
        switch file.state {
        case .directory:
            let protection = try? ProtectedFiles().inheritedProtection(path)
            attributes[.protectionKey] = protection.map(FileProtectionType.init)
        case .protected:
            // A damaged file has the attributes that Foundation gives.
            guard let claim = file.claim else { break }
            attributes[.protectionKey] = FileProtectionType(claim.protection)
            attributes[.size] = NSNumber(value: claim.length)
        case .nothing, .special, .plain, .unreadable: break
        }
        return attributes
    }

    // MARK: Directories

    /// The function behind `FileManager.createDirectory(at:withIntermediateDirectories:attributes:)`.
    ///
    /// New directories get the class that `.protectionKey` names, and otherwise the class of the directory they are in.
    /// An existing directory without a class gets the one that is named. If the class cannot be set, the new
    /// directories are removed again.
    ///
    /// - Throws: `fileWriteUnknown` (512) for a class that is not known; otherwise Foundation's errors.
    public static func createDirectory(
        _ manager: FileManager, at url: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]?
    ) throws {
        try createDirectory(NamedFile(url), url.absoluteString, withIntermediateDirectories, attributes) { others in
            try manager.createDirectory(
                at: url, withIntermediateDirectories: withIntermediateDirectories, attributes: others)
        }
    }

    /// The function behind `FileManager.createDirectory(atPath:withIntermediateDirectories:attributes:)`.
    ///
    /// It does what the function with a URL does.
    ///
    /// - Throws: `fileWriteUnknown` (512) for a class that is not known; otherwise Foundation's errors.
    public static func createDirectory(
        _ manager: FileManager, atPath path: String, withIntermediateDirectories: Bool,
        attributes: [FileAttributeKey: Any]?
    ) throws {
        try createDirectory(NamedFile(path: path), path, withIntermediateDirectories, attributes) { others in
            try manager.createDirectory(
                atPath: path, withIntermediateDirectories: withIntermediateDirectories, attributes: others)
        }
    }

    /// Makes directories. Each new one gets the class that was asked for, and otherwise that of the directory it is in.
    private static func createDirectory(
        _ directory: NamedFile?, _ name: String, _ isDeep: Bool, _ attributes: [FileAttributeKey: Any]?,
        plainly: ([FileAttributeKey: Any]?) throws -> Void
    ) throws {
        try reporting(.writing) {
            let (asked, others) = try separated(attributes, name)
            guard let directory else {
                if asked != nil { throw DataProtectionError.system("protect", name, errno: EINVAL) }
                return try plainly(others)
            }
            let new = missingDirectories(directory.path, isDeep)
            try plainly(others)
            do throws(DataProtectionError) {
                for path in new { try giveProtection(asked, toNew: path) }
                try giveProtection(asked, toOld: directory, unless: !new.isEmpty)
            } catch {
                // A directory must not stay if its files would be plain against the caller's wish.
                for path in new.reversed() { rmdir(path) }
                throw error
            }
        }
    }

    private static func giveProtection(_ asked: FileProtection?, toNew path: String) throws(DataProtectionError) {
        let inherited = try ProtectedFiles().inheritedProtection(FilePath.directory(of: path))
        guard let protection = asked ?? inherited else { return }
        try setProtection(protection, of: NamedFile(path: path), path)
    }

    /// Gives a class to a directory that was there without one, from before the program protected anything.
    ///
    /// Apple's Foundation leaves such a directory as it is, but there its files have a class in any case.
    private static func giveProtection(
        _ asked: FileProtection?, toOld directory: NamedFile, unless isNew: Bool
    ) throws(DataProtectionError) {
        guard let asked, !isNew, try directory.protection() == nil else { return }
        try setProtection(asked, of: directory, directory.path)
    }

    /// The directories that have to be made, the outermost first.
    private static func missingDirectories(_ path: String, _ isDeep: Bool) -> [String] {
        var missing: [String] = []
        var next = path
        while next.count > 1 && next.hasSuffix("/") { next.removeLast() }
        while !FilePath.exists(next) && errno == ENOENT && next != "." {
            missing.insert(next, at: 0)
            guard isDeep else { break }
            next = FilePath.directory(of: next)
        }
        return missing
    }

    // MARK: Parts

    /// Separates the class from the attributes that Foundation is to set. `nil` means that there is none.
    private static func separated(
        _ attributes: [FileAttributeKey: Any]?, _ path: String
    ) throws(DataProtectionError) -> (FileProtection?, [FileAttributeKey: Any]?) {
        guard var others = attributes, let value = others.removeValue(forKey: .protectionKey) else {
            return (nil, attributes)
        }
        return (try FileProtection(attribute: value, path), others.isEmpty ? nil : others)
    }

    /// Gives a class to a file or directory.
    ///
    /// - Parameter name: The name for errors, if it names no file.
    static func setProtection(
        _ protection: FileProtection, of file: NamedFile?, _ name: String
    ) throws(DataProtectionError) {
        guard let file else { throw .system("open", name, errno: ENOENT) }
        try ProtectedFiles().setProtection(protection, of: file.url)
    }
}
