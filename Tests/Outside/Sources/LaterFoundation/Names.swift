// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The names of Apple's Foundation that the one on Linux lacks, as a later one may have them.

import Foundation

extension FileProtectionType {
    public static let completeWhenUserInactive = FileProtectionType(
        rawValue: "NSFileProtectionCompleteWhenUserInactive")
}

extension Data.WritingOptions {
    public static let completeFileProtectionWhenUserInactive = Data.WritingOptions(rawValue: 0x5000_0000)
}

extension URLResourceKey {
    public static let fileProtectionKey = URLResourceKey(rawValue: "NSURLFileProtectionKey")
}

extension URLResourceValues {
    public var fileProtection: FileProtectionType? { nil }
}
