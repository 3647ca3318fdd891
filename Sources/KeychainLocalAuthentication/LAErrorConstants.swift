// The codes of errors as numbers, under the names that C has for them. `NSError.code` is compared with these in older code.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The number of `LAError.authenticationFailed` is −1.
public let kLAErrorAuthenticationFailed: Int32 = -1
/// The number of `LAError.userCancel` is −2.
public let kLAErrorUserCancel: Int32 = -2
/// The number of `LAError.userFallback` is −3.
public let kLAErrorUserFallback: Int32 = -3
/// The number of `LAError.systemCancel` is −4.
public let kLAErrorSystemCancel: Int32 = -4
/// The number of `LAError.passcodeNotSet` is −5.
public let kLAErrorPasscodeNotSet: Int32 = -5
/// The number of `LAError.biometryNotAvailable` is −6.
public let kLAErrorBiometryNotAvailable: Int32 = -6
/// The number of `LAError.biometryNotEnrolled` is −7.
public let kLAErrorBiometryNotEnrolled: Int32 = -7
/// The number of `LAError.biometryLockout` is −8.
public let kLAErrorBiometryLockout: Int32 = -8
/// The number of `LAError.appCancel` is −9.
public let kLAErrorAppCancel: Int32 = -9
/// The number of `LAError.invalidContext` is −10.
public let kLAErrorInvalidContext: Int32 = -10
/// The number of `LAError.companionNotAvailable` is −11.
public let kLAErrorCompanionNotAvailable: Int32 = -11
/// The number of `LAError.biometryNotPaired` is −12.
public let kLAErrorBiometryNotPaired: Int32 = -12
/// The number of `LAError.biometryDisconnected` is −13.
public let kLAErrorBiometryDisconnected: Int32 = -13
/// The number of `LAError.invalidDimensions` is −14.
public let kLAErrorInvalidDimensions: Int32 = -14
/// The number of `LAError.notInteractive` is −1004.
public let kLAErrorNotInteractive: Int32 = -1004
/// The older name of the number of `LAError.touchIDNotAvailable` is −6.
public let kLAErrorTouchIDNotAvailable: Int32 = -6
/// The older name of the number of `LAError.touchIDNotEnrolled` is −7.
public let kLAErrorTouchIDNotEnrolled: Int32 = -7
/// The older name of the number of `LAError.touchIDLockout` is −8.
public let kLAErrorTouchIDLockout: Int32 = -8
/// The older name of the number of `LAError.watchNotAvailable` is −11.
public let kLAErrorWatchNotAvailable: Int32 = -11
