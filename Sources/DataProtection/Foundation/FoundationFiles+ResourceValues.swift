internal import DataProtectionCore
public import Foundation
internal import Glibc

extension FoundationFiles {
    // MARK: NSURL

    /// The function behind `NSURL.setResourceValue(_:forKey:)`.
    ///
    /// `URLResourceKey.fileProtectionKey` encrypts a plain file, and gives a protected file another class.
    ///
    /// - Throws: `fileWriteUnknown` (512) for a class that is not known; `fileWriteNoPermission` (513) if the key is
    ///   locked away.
    public static func setResourceValue(_ value: Any?, forKey key: URLResourceKey, of url: NSURL) throws {
        guard key == .fileProtectionKey else { return try url.setResourceValue(value, forKey: key) }
        try setProtection(value, of: url as URL)
    }

    /// The function behind `NSURL.setResourceValues(_:)`.
    ///
    /// The class is set first, so nothing is changed if it cannot be set.
    ///
    /// - Throws: `fileWriteUnknown` (512) for a class that is not known; otherwise Foundation's errors.
    public static func setResourceValues(_ values: [URLResourceKey: Any], of url: NSURL) throws {
        var others = values
        if let value = others.removeValue(forKey: .fileProtectionKey) { try setProtection(value, of: url as URL) }
        try url.setResourceValues(others)
    }

    /// The function behind `NSURL.getResourceValue(_:forKey:)`.
    ///
    /// The class is that of the header, so it is there while the file is locked. It is a string, and `nil` for a plain
    /// file.
    ///
    /// - Throws: `fileReadCorruptFile` (259) if the header cannot be read; otherwise Foundation's errors.
    public static func getResourceValue(
        _ value: inout AnyObject?, forKey key: URLResourceKey, of url: NSURL
    ) throws {
        guard key == .fileProtectionKey else { return try url.getResourceValue(&value, forKey: key) }
        value = try protection(of: url as URL)
    }

    /// The function behind `NSURL.resourceValues(forKeys:)`. The class is absent from the result for a plain file.
    ///
    /// - Throws: `fileReadCorruptFile` (259) if the header cannot be read; otherwise Foundation's errors.
    public static func resourceValues(forKeys keys: [URLResourceKey], of url: NSURL) throws -> [URLResourceKey: Any] {
        var values = try url.resourceValues(forKeys: keys.filter { $0 != .fileProtectionKey })
        if keys.contains(.fileProtectionKey) { values[.fileProtectionKey] = try protection(of: url as URL) }
        return values
    }

    // MARK: URL

    /// The function behind `URL.resourceValues(forKeys:)`.
    ///
    /// `URLResourceValues.fileProtection` has the class, which is not in `allValues`.
    ///
    /// - Throws: `fileReadCorruptFile` (259) if the header cannot be read; otherwise Foundation's errors.
    public static func resourceValues(forKeys keys: Set<URLResourceKey>, of url: URL) throws -> URLResourceValues {
        guard keys.contains(.fileProtectionKey) else { return try url.resourceValues(forKeys: keys) }
        // A failure that would make that property nil is reported here.
        _ = try protection(of: url)
        return try url.resourceValues(forKeys: keys.union([.pathKey]))
    }

    // MARK: Parts

    private static func setProtection(_ value: Any?, of url: URL) throws {
        try reporting(.writing) {
            let file = NamedFile(url)
            let name = file?.path ?? url.absoluteString
            try setProtection(try FileProtection(resourceValue: value, name), of: file, name)
        }
    }

    private static func protection(of url: URL) throws -> NSString? {
        try reporting(.reading) {
            try NamedFile(url)?.protection().map { URLFileProtection($0)._bridgeToObjectiveC() }
        }
    }
}
