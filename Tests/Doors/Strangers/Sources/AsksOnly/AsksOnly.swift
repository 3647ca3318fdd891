// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

/// As supabase-swift does: on Apple's platforms Foundation brings the names along, so nothing else is imported.
public enum AsksOnly {
    #if canImport(Security)
        public static let findsSecurity = true
        public static let success: OSStatus = errSecSuccess
    #else
        public static let findsSecurity = false
    #endif
}
