// Errors as patterns.

extension DataProtectionError.Code {
    /// Matches an error of this code, also where other errors can be thrown.
    ///
    /// ```swift
    /// do {
    ///     return try JSONDecoder().decode(Notes.self, from: try files.read(from: url))
    /// } catch DataProtectionError.locked {
    ///     return nil
    /// }
    /// ```
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? DataProtectionError)?.code == code }
}

// The codes by one name, for patterns.
extension DataProtectionError {
    /// ``Code-swift.enum/locked``, as in `catch DataProtectionError.locked`.
    public static var locked: Code { .locked }
    /// ``Code-swift.enum/wrongKey``, as in `catch DataProtectionError.wrongKey`.
    public static var wrongKey: Code { .wrongKey }
    /// ``Code-swift.enum/wrongPassphrase``, as in `catch DataProtectionError.wrongPassphrase`.
    public static var wrongPassphrase: Code { .wrongPassphrase }
    /// ``Code-swift.enum/tampered``, as in `catch DataProtectionError.tampered`.
    public static var tampered: Code { .tampered }
    /// ``Code-swift.enum/truncated``, as in `catch DataProtectionError.truncated`.
    public static var truncated: Code { .truncated }
    /// ``Code-swift.enum/keysUnavailable``, as in `catch DataProtectionError.keysUnavailable`.
    public static var keysUnavailable: Code { .keysUnavailable }
    /// ``Code-swift.enum/notProtected``, as in `catch DataProtectionError.notProtected`.
    public static var notProtected: Code { .notProtected }
    /// ``Code-swift.enum/newerFormat``, as in `catch DataProtectionError.newerFormat`.
    public static var newerFormat: Code { .newerFormat }
    /// ``Code-swift.enum/invalidOption``, as in `catch DataProtectionError.invalidOption`.
    public static var invalidOption: Code { .invalidOption }
    /// ``Code-swift.enum/unsupportedFile``, as in `catch DataProtectionError.unsupportedFile`.
    public static var unsupportedFile: Code { .unsupportedFile }
    /// ``Code-swift.enum/changedMeanwhile``, as in `catch DataProtectionError.changedMeanwhile`.
    public static var changedMeanwhile: Code { .changedMeanwhile }
    /// ``Code-swift.enum/keychain``, as in `catch DataProtectionError.keychain`.
    public static var keychain: Code { .keychain }
    /// ``Code-swift.enum/system``, as in `catch DataProtectionError.system`.
    public static var system: Code { .system }
}
