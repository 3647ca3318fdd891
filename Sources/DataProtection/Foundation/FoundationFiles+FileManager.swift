public import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainSystem

extension FoundationFiles {
    // MARK: Files

    /// `FileManager.contents(atPath:)`: nil for whatever went wrong, the lock included.
    public static func contents(_ manager: FileManager, atPath path: String) -> Data? {
        try? read(NamedFile(path: path)) {
            guard let data = manager.contents(atPath: path) else { throw CocoaError(.fileReadUnknown) }
            return data
        }
    }

    /// `FileManager.createFile(atPath:contents:attributes:)`: the class is there before the content is.
    public static func createFile(
        _ manager: FileManager, atPath path: String, contents: Data?, attributes: [FileAttributeKey: Any]?
    ) -> Bool {
        do {
            let (asked, others) = try separated(attributes, path)
            guard let (file, protection) = try protected(NamedFile(path: path), path, asked) else {
                return manager.createFile(atPath: path, contents: contents, attributes: others)
            }
            try ProtectedFiles().write(contents ?? Data(), to: file.url, protection: protection)
            // Foundation is content with a file that did not get all of them.
            if let others { try? manager.setAttributes(others, ofItemAtPath: path) }
            return true
        } catch {
            return false
        }
    }

    // MARK: Attributes

    /// `FileManager.setAttributes(_:ofItemAtPath:)`. The class comes first: if it cannot be set, nothing is changed.
    public static func setAttributes(
        _ manager: FileManager, _ attributes: [FileAttributeKey: Any], ofItemAtPath path: String
    ) throws {
        try reporting(.writing) {
            let (asked, others) = try separated(attributes, path)
            if let asked { try setProtection(asked, of: NamedFile(path: path), path) }
            if let others { try manager.setAttributes(others, ofItemAtPath: path) }
        }
    }

    /// `FileManager.attributesOfItem(atPath:)`, with the class, and for a protected file the size of its content. Both are
    /// as the header says, which is checked only when the file is opened; so they can be had while it is locked.
    public static func attributesOfItem(
        _ manager: FileManager, atPath path: String
    ) throws -> [FileAttributeKey: Any] {
        var attributes = try manager.attributesOfItem(atPath: path)
        // A link is described itself.
        guard let file = NamedFile(path: path), attributes[.type] as? FileAttributeType != .typeSymbolicLink else {
            return attributes
        }
        switch file.state {
        case .directory:
            let protection = try? ProtectedFiles().inheritedProtection(path)
            attributes[.protectionKey] = protection.map(FileProtectionType.init)
        case .protected:
            // Of a damaged file there is no more to say than Foundation does.
            guard let header = try? OpenFile(reading: path).header().claimed else { break }
            attributes[.protectionKey] = FileProtectionType(FileProtection(header.fileClass))
            attributes[.size] = NSNumber(value: header.length)
        case .nothing, .special, .plain, .unreadable: break
        }
        return attributes
    }

    // MARK: Directories

    /// `FileManager.createDirectory(at:withIntermediateDirectories:attributes:)`.
    public static func createDirectory(
        _ manager: FileManager, at url: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]?
    ) throws {
        try createDirectory(NamedFile(url), url.absoluteString, withIntermediateDirectories, attributes) { others in
            try manager.createDirectory(
                at: url, withIntermediateDirectories: withIntermediateDirectories, attributes: others)
        }
    }

    /// `FileManager.createDirectory(atPath:withIntermediateDirectories:attributes:)`.
    public static func createDirectory(
        _ manager: FileManager, atPath path: String, withIntermediateDirectories: Bool,
        attributes: [FileAttributeKey: Any]?
    ) throws {
        try createDirectory(NamedFile(path: path), path, withIntermediateDirectories, attributes) { others in
            try manager.createDirectory(
                atPath: path, withIntermediateDirectories: withIntermediateDirectories, attributes: others)
        }
    }

    /// Every new directory gets the class that was asked for, else that of the directory it is in.
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
                // No directory stays whose files would be plain against what was asked.
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

    /// One that was there without a class, from before the program protected anything: Apple's Foundation leaves it as it
    /// is, but there its files have a class in any case.
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
        while access(next, F_OK) != 0 && errno == ENOENT && next != "." {
            missing.insert(next, at: 0)
            guard isDeep else { break }
            next = FilePath.directory(of: next)
        }
        return missing
    }

    // MARK: Parts

    /// The class, and the attributes that Foundation is to set; nil: none.
    private static func separated(
        _ attributes: [FileAttributeKey: Any]?, _ path: String
    ) throws(DataProtectionError) -> (FileProtection?, [FileAttributeKey: Any]?) {
        guard var others = attributes, let value = others.removeValue(forKey: .protectionKey) else {
            return (nil, attributes)
        }
        return (try FileProtection(attribute: value, path), others.isEmpty ? nil : others)
    }

    /// - Parameter name: For errors, if it is no file.
    static func setProtection(
        _ protection: FileProtection, of file: NamedFile?, _ name: String
    ) throws(DataProtectionError) {
        guard let file else { throw .system("open", name, errno: ENOENT) }
        try ProtectedFiles().setProtection(protection, of: file.url)
    }
}
