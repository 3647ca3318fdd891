public import Foundation

/// A class of protection as resource values name it. Apple's Foundation has this type, the one on Linux lacks it.
public struct URLFileProtection: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let none = URLFileProtection(.none)
    public static let complete = URLFileProtection(.complete)
    public static let completeUnlessOpen = URLFileProtection(.completeUnlessOpen)
    public static let completeUntilFirstUserAuthentication = URLFileProtection(.completeUntilFirstUserAuthentication)
}

/// Resource values are strings, which `as? URLFileProtection` must turn into this type as on Apple's platforms.
extension URLFileProtection: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSString { rawValue as NSString }

    public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout URLFileProtection?) {
        result = _unconditionallyBridgeFromObjectiveC(source)
    }

    public static func _conditionallyBridgeFromObjectiveC(_ source: NSString, result: inout URLFileProtection?) -> Bool
    {
        result = _unconditionallyBridgeFromObjectiveC(source)
        return true
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> URLFileProtection {
        URLFileProtection(rawValue: source as String? ?? "")
    }
}

extension URLResourceKey {
    /// The class of a file, a ``URLFileProtection``. A target needs the plugin `AppleCompatibility` for it to have any
    /// effect: Foundation on Linux accepts keys that it does not know, and does nothing.
    public static let fileProtectionKey = URLResourceKey(rawValue: "NSURLFileProtectionKey")
}

extension URLResourceValues {
    /// The class of the file, if `URLResourceKey.fileProtectionKey` was asked for, as it is now; nil for a
    /// plain file, and without the plugin `AppleCompatibility`.
    public var fileProtection: URLFileProtection? {
        // Nobody but Foundation can store a value here, but it does remember the path.
        guard let path, let file = NamedFile(path: path), let protection = try? file.protection() else { return nil }
        return URLFileProtection(protection)
    }
}

// MARK: - Names

extension URLFileProtection {
    init(_ protection: FileProtection) { self.init(rawValue: "NSURLFileProtection" + protection.appleName) }
}

extension FileProtectionType {
    init(_ protection: FileProtection) { self.init(rawValue: "NSFileProtection" + protection.appleName) }
}

extension FileProtection {
    /// What Apple's constants have in common.
    fileprivate var appleName: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    private init?(_ value: Any, prefix: String) {
        let name: String? =
            switch value {
            case let value as URLFileProtection: value.rawValue
            case let value as FileProtectionType: value.rawValue
            default: value as? String
            }
        guard let found = Self.allCases.first(where: { prefix + $0.appleName == name }) else { return nil }
        self = found
    }

    /// - Parameter value: Of `FileAttributeKey.protectionKey`.
    /// - Throws: `.invalidOption` for anything that names no class of ours, such as that of an inactive user.
    init(attribute value: Any, _ path: String) throws(DataProtectionError) {
        guard let found = FileProtection(value, prefix: "NSFileProtection") else { throw Self.unknown(value, path) }
        self = found
    }

    /// - Parameter value: Of `URLResourceKey.fileProtectionKey`.
    init(resourceValue value: Any?, _ path: String) throws(DataProtectionError) {
        guard let value, let found = FileProtection(value, prefix: "NSURLFileProtection") else {
            throw Self.unknown(value ?? "nil", path)
        }
        self = found
    }

    /// The class that options for writing ask for; nil: they say nothing.
    ///
    /// The constants are numbers in the upper four bits, not flags: `contains` finds one in another.
    static func asked(by options: Data.WritingOptions, _ path: String) throws(DataProtectionError) -> FileProtection? {
        let number = options.rawValue & 0xF000_0000
        switch number {
        case 0: return nil
        case 0x1000_0000: return FileProtection.none
        case 0x2000_0000: return .complete
        case 0x3000_0000: return .completeUnlessOpen
        case 0x4000_0000: return .completeUntilFirstUserAuthentication
        default: throw unknown("0x" + String(number, radix: 16), path)
        }
    }

    private static func unknown(_ value: Any, _ path: String) -> DataProtectionError {
        DataProtectionError(.invalidOption, path, "\(value) is no class of protection that this library has")
    }
}
