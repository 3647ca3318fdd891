internal import DataProtectionCore
public import Foundation
internal import Glibc

/// A class of protection as resource values name it. Apple's Foundation has this type, and the one on Linux lacks it.
///
/// ```swift
/// let values = try url.resourceValues(forKeys: [.fileProtectionKey])  // in a target under the plugin
/// print(values.fileProtection == .complete)
/// ```
///
/// The names and raw values are those of Apple's constants. ``FileProtection`` tells what each class means.
public struct URLFileProtection: RawRepresentable, Sendable, Hashable {
    /// Apple's name of the class, for instance `NSURLFileProtectionComplete`.
    public let rawValue: String
    /// Makes a value of any name. Setting a class with an unknown name throws `fileWriteUnknown` (512).
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Class D: see `FileProtection.always`.
    public static let none = URLFileProtection(.always)
    /// Class A: see `FileProtection.complete`.
    public static let complete = URLFileProtection(.complete)
    /// Class B: see `FileProtection.completeUnlessOpen`.
    public static let completeUnlessOpen = URLFileProtection(.completeUnlessOpen)
    /// Class CX: see `FileProtection.completeWhenUserInactive`.
    public static let completeWhenUserInactive = URLFileProtection(.completeWhenUserInactive)
    /// Class C: see `FileProtection.completeUntilFirstUserAuthentication`.
    public static let completeUntilFirstUserAuthentication = URLFileProtection(.completeUntilFirstUserAuthentication)
}

/// The bridge to `NSString`.
///
/// Resource values are strings, and `as? URLFileProtection` turns them into this type, as on Apple's platforms.
extension URLFileProtection: _ObjectiveCBridgeable {
    /// The raw value as an object. Casts call it, and programs need not.
    public func _bridgeToObjectiveC() -> NSString { rawValue as NSString }

    /// Makes a value of a string for a cast with `as!`. Every string is accepted.
    public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout URLFileProtection?) {
        result = _unconditionallyBridgeFromObjectiveC(source)
    }

    /// Makes a value of a string for a cast with `as?`. Every string is accepted, so the result is always true.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSString, result: inout URLFileProtection?) -> Bool
    {
        result = _unconditionallyBridgeFromObjectiveC(source)
        return true
    }

    /// Makes a value of a string for an implicit cast. `nil` becomes the empty name, which is no class.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> URLFileProtection {
        URLFileProtection(rawValue: source as String? ?? "")
    }
}

// A later Foundation may have the names of these members itself. Its own come first then.

extension URLResourceKey {
    /// The key for the class of a file, a ``URLFileProtection``.
    ///
    /// A target needs the plugin `AppleCompatibility` for the key to have an effect: Foundation on Linux accepts keys
    /// that it does not know, and does nothing.
    @_disfavoredOverload
    public static let fileProtectionKey = URLResourceKey(rawValue: "NSURLFileProtectionKey")
}

extension URLResourceValues {
    /// The class of the file as it is now, after a request for `URLResourceKey.fileProtectionKey`.
    ///
    /// The property looks at the file again at each read. It is `nil` for a plain file, for a file whose header cannot
    /// be read, and for values without the file's path: a target needs the plugin `AppleCompatibility`, whose requests
    /// add that path.
    @_disfavoredOverload
    public var fileProtection: URLFileProtection? {
        // Only Foundation can store a value here, but the type does remember the path.
        guard let path, let file = NamedFile(path: path), let protection = try? file.protection() else { return nil }
        return URLFileProtection(protection)
    }
}

extension FileProtectionType {
    /// The class of Apple's Foundation that the one on Linux lacks: see `FileProtection.completeWhenUserInactive`.
    @_disfavoredOverload
    public static let completeWhenUserInactive = FileProtectionType(.completeWhenUserInactive)
}

extension Data.WritingOptions {
    /// The option of Apple's Foundation that the one on Linux lacks: see `FileProtection.completeWhenUserInactive`.
    ///
    /// Like the options for the other classes it is a number in the upper four bits, so `contains` finds it in others.
    @_disfavoredOverload
    public static let completeFileProtectionWhenUserInactive = Data.WritingOptions(rawValue: 0x5000_0000)
}

// MARK: - Names

extension URLFileProtection {
    init(_ protection: FileProtection) { self.init(rawValue: "NSURLFileProtection" + protection.appleName) }
}

extension FileProtectionType {
    init(_ protection: FileProtection) { self.init(rawValue: "NSFileProtection" + protection.appleName) }
}

extension FileProtection {
    /// The part that the names of Apple's constants share.
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

    /// Makes a class of a file attribute.
    ///
    /// - Parameter value: The value of `FileAttributeKey.protectionKey`.
    /// - Throws: `.invalidOption` for a value that names no class.
    init(attribute value: Any, _ path: String) throws(DataProtectionError) {
        guard let found = FileProtection(value, prefix: "NSFileProtection") else { throw Self.unknown(value, path) }
        self = found
    }

    /// Makes a class of a resource value.
    ///
    /// - Parameter value: The value of `URLResourceKey.fileProtectionKey`.
    init(resourceValue value: Any?, _ path: String) throws(DataProtectionError) {
        guard let value, let found = FileProtection(value, prefix: "NSURLFileProtection") else {
            throw Self.unknown(value ?? "nil", path)
        }
        self = found
    }

    /// The class that options for writing ask for. `nil` means that they ask for none.
    ///
    /// The constants are numbers in the upper four bits and not flags, so `contains` would find one in another.
    static func asked(by options: Data.WritingOptions, _ path: String) throws(DataProtectionError) -> FileProtection? {
        let number = options.rawValue & 0xF000_0000
        switch number {
        case 0: return nil
        case 0x1000_0000: return .always
        case 0x2000_0000: return .complete
        case 0x3000_0000: return .completeUnlessOpen
        case 0x4000_0000: return .completeUntilFirstUserAuthentication
        case 0x5000_0000: return .completeWhenUserInactive
        default: throw unknown("0x" + String(number, radix: 16), path)
        }
    }

    private static func unknown(_ value: Any, _ path: String) -> DataProtectionError {
        DataProtectionError(.invalidOption, path, "\(value) is no class of protection that this library has")
    }
}
