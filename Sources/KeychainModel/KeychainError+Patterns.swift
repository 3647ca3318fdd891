// Errors as patterns, and as what `NSError` shows of them.

extension KeychainError: Equatable {
    /// Whether the codes are equal. The texts take no part.
    public static func == (a: KeychainError, b: KeychainError) -> Bool { a.code == b.code }
}

extension KeychainError.Code {
    /// Matches a keychain error of this code, also where other errors can be thrown.
    ///
    /// ```swift
    /// do {
    ///     try publish(try keychain.string(for: "token"))
    /// } catch KeychainError.interactionNotAllowed {
    ///     waitForUnlock()
    /// }
    /// ```
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? KeychainError)?.code == code }
}

extension KeychainError {
    /// The domain as an `NSError`: that of Apple's statuses, `NSOSStatusErrorDomain`.
    public var _domain: String { "NSOSStatusErrorDomain" }
    /// The code as an `NSError`: ``status``.
    public var _code: Int { Int(status) }
}

// The codes by one name, for patterns.
extension KeychainError {
    /// ``Code/unimplemented``, as in `catch KeychainError.unimplemented`.
    public static var unimplemented: Code { .unimplemented }
    /// ``Code/inputOutput``, as in `catch KeychainError.inputOutput`.
    public static var inputOutput: Code { .inputOutput }
    /// ``Code/diskFull``, as in `catch KeychainError.diskFull`.
    public static var diskFull: Code { .diskFull }
    /// ``Code/parameter``, as in `catch KeychainError.parameter`.
    public static var parameter: Code { .parameter }
    /// ``Code/allocation``, as in `catch KeychainError.allocation`.
    public static var allocation: Code { .allocation }
    /// ``Code/userCancelled``, as in `catch KeychainError.userCancelled`.
    public static var userCancelled: Code { .userCancelled }
    /// ``Code/taskCancelled``, as in `catch KeychainError.taskCancelled`.
    public static var taskCancelled: Code { .taskCancelled }
    /// ``Code/noPasscode``, as in `catch KeychainError.noPasscode`.
    public static var noPasscode: Code { .noPasscode }
    /// ``Code/notAvailable``, as in `catch KeychainError.notAvailable`.
    public static var notAvailable: Code { .notAvailable }
    /// ``Code/readOnly``, as in `catch KeychainError.readOnly`.
    public static var readOnly: Code { .readOnly }
    /// ``Code/authenticationFailed``, as in `catch KeychainError.authenticationFailed`.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// ``Code/noSuchKeychain``, as in `catch KeychainError.noSuchKeychain`.
    public static var noSuchKeychain: Code { .noSuchKeychain }
    /// ``Code/duplicateItem``, as in `catch KeychainError.duplicateItem`.
    public static var duplicateItem: Code { .duplicateItem }
    /// ``Code/itemNotFound``, as in `catch KeychainError.itemNotFound`.
    public static var itemNotFound: Code { .itemNotFound }
    /// ``Code/dataTooLarge``, as in `catch KeychainError.dataTooLarge`.
    public static var dataTooLarge: Code { .dataTooLarge }
    /// ``Code/noSuchAttribute``, as in `catch KeychainError.noSuchAttribute`.
    public static var noSuchAttribute: Code { .noSuchAttribute }
    /// ``Code/noSuchClass``, as in `catch KeychainError.noSuchClass`.
    public static var noSuchClass: Code { .noSuchClass }
    /// ``Code/interactionNotAllowed``, as in `catch KeychainError.interactionNotAllowed`.
    public static var interactionNotAllowed: Code { .interactionNotAllowed }
    /// ``Code/decode``, as in `catch KeychainError.decode`.
    public static var decode: Code { .decode }
    /// ``Code/internalFailure``, as in `catch KeychainError.internalFailure`.
    public static var internalFailure: Code { .internalFailure }
    /// ``Code/missingEntitlement``, as in `catch KeychainError.missingEntitlement`.
    public static var missingEntitlement: Code { .missingEntitlement }
}
