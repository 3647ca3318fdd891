// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

#if canImport(Security)
    import Security
#endif

/// As swift-certificates does.
public enum AsksAndImports {
    #if canImport(Security)
        public static let findsSecurity = true
        public static let success: OSStatus = errSecSuccess
    #else
        public static let findsSecurity = false
    #endif
}
