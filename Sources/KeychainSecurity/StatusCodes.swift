// The statuses that the item functions return, with Apple's names and numbers.

public let errSecSuccess: OSStatus = 0
public let errSecUnimplemented: OSStatus = -4
public let errSecDiskFull: OSStatus = -34
public let errSecIO: OSStatus = -36
public let errSecParam: OSStatus = -50
public let errSecAllocate: OSStatus = -108
public let errSecUserCanceled: OSStatus = -128
public let errSecBadReq: OSStatus = -909
public let errSecInternalComponent: OSStatus = -2070
/// What was asked needs a passcode, and none is set. Apple uses it for exports.
public let errSecPassphraseRequired: OSStatus = -25260
public let errSecNotAvailable: OSStatus = -25291
public let errSecReadOnly: OSStatus = -25292
public let errSecAuthFailed: OSStatus = -25293
/// What was asked about belongs to another keychain, or to keys that are no more.
public let errSecNoSuchKeychain: OSStatus = -25294
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
public let errSecDataTooLarge: OSStatus = -25302
public let errSecNoSuchAttr: OSStatus = -25303
public let errSecInvalidItemRef: OSStatus = -25304
public let errSecNoSuchClass: OSStatus = -25306
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecReadOnlyAttr: OSStatus = -25309
public let errSecKeySizeNotAllowed: OSStatus = -25311
public let errSecInteractionRequired: OSStatus = -25315
public let errSecDataNotAvailable: OSStatus = -25316
/// Goes between a host and its client only; no function returns it.
public let errSecAuthNeeded: OSStatus = -25330
public let errSecPolicyDenied: OSStatus = -26270
public let errSecDecode: OSStatus = -26275
public let errSecInternal: OSStatus = -26276
public let errSecMissingEntitlement: OSStatus = -34018
public let errSecUpgradePending: OSStatus = -34019
public let errSecRestrictedAPI: OSStatus = -34020

// Other names of the same statuses.

public let errSecUnsupportedAlgorithm = errSecUnimplemented
public let errSecUnsupportedOperation = errSecUnimplemented
public let errSecInvalidCertificate = errSecDecode
public let errSecInvalidKey = errSecDecode
public let errSecUnsupportedPadding = errSecParam
public let errSecItemInvalidKey = errSecParam
public let errSecItemInvalidKeyType = errSecParam
public let errSecItemInvalidValue = errSecParam
public let errSecItemClassMissing = errSecParam
public let errSecItemMatchUnsupported = errSecParam
public let errSecItemIllegalQuery = errSecParam
public let errSecUseItemListUnsupported = errSecParam
public let errSecReturnDataUnsupported = errSecParam
public let errSecReturnAttributesUnsupported = errSecParam
public let errSecReturnRefUnsupported = errSecParam
public let errSecReturnPersistentRefUnsupported = errSecParam
public let errSecReturnMissingPointer = errSecParam
public let errSecValueRefUnsupported = errSecParam
public let errSecValuePersistentRefUnsupported = errSecParam
public let errSecMatchLimitUnsupported = errSecParam
