import LocalAuthentication

/// The codes of errors as LAError itself names them, for catch LAError.userCancel.
enum ErrorNames {
    static let present: [LAError.Code] = [
        LAError.authenticationFailed, LAError.userCancel, LAError.userFallback, LAError.systemCancel,
        LAError.passcodeNotSet, LAError.biometryNotAvailable, LAError.biometryNotEnrolled, LAError.biometryLockout,
        LAError.appCancel, LAError.invalidContext, LAError.companionNotAvailable, LAError.biometryNotPaired,
        LAError.biometryDisconnected, LAError.invalidDimensions, LAError.notInteractive,
    ]

    static let older: [LAError.Code] = [
        LAError.touchIDNotAvailable, LAError.touchIDNotEnrolled, LAError.touchIDLockout, LAError.watchNotAvailable,
    ]
}
