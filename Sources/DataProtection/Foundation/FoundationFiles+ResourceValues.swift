public import Foundation

extension FoundationFiles {
    // MARK: NSURL

    /// `NSURL.setResourceValue(_:forKey:)`. A plain file is encrypted, a protected one is given another class.
    public static func setResourceValue(_ value: Any?, forKey key: URLResourceKey, of url: NSURL) throws {
        guard key == .fileProtectionKey else { return try url.setResourceValue(value, forKey: key) }
        try setProtection(value, of: url as URL)
    }

    /// `NSURL.setResourceValues(_:)`. The class comes first: if it cannot be set, nothing is changed.
    public static func setResourceValues(_ values: [URLResourceKey: Any], of url: NSURL) throws {
        var others = values
        if let value = others.removeValue(forKey: .fileProtectionKey) { try setProtection(value, of: url as URL) }
        try url.setResourceValues(others)
    }

    /// `NSURL.getResourceValue(_:forKey:)`. Also while the file is locked; nil for a plain one.
    public static func getResourceValue(
        _ value: inout AnyObject?, forKey key: URLResourceKey, of url: NSURL
    ) throws {
        guard key == .fileProtectionKey else { return try url.getResourceValue(&value, forKey: key) }
        value = try protection(of: url as URL)
    }

    /// `NSURL.resourceValues(forKeys:)`.
    public static func resourceValues(forKeys keys: [URLResourceKey], of url: NSURL) throws -> [URLResourceKey: Any] {
        var values = try url.resourceValues(forKeys: keys.filter { $0 != .fileProtectionKey })
        if keys.contains(.fileProtectionKey) { values[.fileProtectionKey] = try protection(of: url as URL) }
        return values
    }

    // MARK: URL

    /// `URL.resourceValues(forKeys:)`. The class is found by `URLResourceValues.fileProtection`, not in `allValues`.
    public static func resourceValues(forKeys keys: Set<URLResourceKey>, of url: URL) throws -> URLResourceValues {
        guard keys.contains(.fileProtectionKey) else { return try url.resourceValues(forKeys: keys) }
        // What would make that property nil is reported here.
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
