// The statuses that functions here return, and some that code for Apple's systems tells apart, with their numbers.

/// The call did all that it was asked to do.
public let errSecSuccess: OSStatus = 0
/// The call asks for a feature that this keychain does not have yet, such as references to keys.
public let errSecUnimplemented: OSStatus = -4
/// The disk is full; the `SecItem…` functions return `errSecNotAvailable` in this case.
///
/// The errors of the module `SwiftKeychain` and the command `keychainctl` use this status.
public let errSecDiskFull: OSStatus = -34
/// The files of the keychain could not be read or written.
public let errSecIO: OSStatus = -36
/// A key, a value or a combination of them is not allowed, and nothing was done.
public let errSecParam: OSStatus = -50
/// The system has not enough memory for the call.
public let errSecAllocate: OSStatus = -108
/// The person declined to authenticate.
public let errSecUserCanceled: OSStatus = -128
/// No function here returns this status; Apple's keychain has it for a renewal of keys that is not in progress.
public let errSecBadReq: OSStatus = -909
/// The kernel gave no random bytes, as `SecRandomCopyBytes(_:_:_:)` reports it.
public let errSecInternalComponent: OSStatus = -2070
/// The operation needs a passcode, and none is set.
///
/// Locking and unlocking by the module `SwiftKeychain` end with this status. The `SecItem…` functions never return it.
/// Apple's systems use the number for exports.
public let errSecPassphraseRequired: OSStatus = -25260
/// The keychain cannot be used: its files do not open, its daemon does not answer, or the disk is full.
public let errSecNotAvailable: OSStatus = -25291
/// The keychain can be read but not written, since its files or its file system are read-only.
public let errSecReadOnly: OSStatus = -25292
/// The authentication failed, or nothing on this machine can satisfy the item's access control.
///
/// A wrong passcode, a finger that is not enrolled and a missing passcode end this way, and so does reading an item
/// with `SecAccessControlCreateFlags.privateKeyUsage`.
public let errSecAuthFailed: OSStatus = -25293
/// A protected file belongs to another keychain, or to keys that no longer exist.
///
/// The module `DataProtection` and the command `keychainctl` use this status. The `SecItem…` functions never return it.
public let errSecNoSuchKeychain: OSStatus = -25294
/// An item with equal unique attributes exists already, and the call changed nothing.
public let errSecDuplicateItem: OSStatus = -25299
/// No item in the program's groups matches the query.
///
/// An item that is locked never has this status. A damaged item has it, and so has an item that is bound to other
/// fingers than those enrolled now.
public let errSecItemNotFound: OSStatus = -25300
/// An item has more than 64 MiB, or the answer of a daemon is too large.
public let errSecDataTooLarge: OSStatus = -25302
/// The item class does not have an attribute that the dictionary names.
///
/// Among the new values of an update every key has this status that is neither an attribute nor `kSecValueData`.
public let errSecNoSuchAttr: OSStatus = -25303
/// No function here returns this status, since there are no references to certificates and keys yet.
public let errSecInvalidItemRef: OSStatus = -25304
/// The item class does not exist, or the persistent reference is of another class than the query.
public let errSecNoSuchClass: OSStatus = -25306
/// The keychain is locked, or a person would have to be asked and may not or cannot be.
///
/// The item may exist or not, so a program should wait for the unlock instead of storing it anew.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// No function here returns this status; Apple declares it for attributes that cannot change.
public let errSecReadOnlyAttr: OSStatus = -25309
/// No function here returns this status; Apple declares it for keys of a wrong size.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// No function here returns this status; Apple declares it for calls that would have to ask a person.
public let errSecInteractionRequired: OSStatus = -25315
/// No function here returns this status; Apple declares it for items whose data cannot be reached.
public let errSecDataNotAvailable: OSStatus = -25316
/// No function here returns this status; Apple's keychain uses it between its own processes.
public let errSecAuthNeeded: OSStatus = -25330
/// No function here returns this status; Apple declares it for certificates that a policy refuses.
public let errSecPolicyDenied: OSStatus = -26270
/// Stored bytes are damaged, or not of the form that they should have.
///
/// A search leaves a damaged item out of its answer instead of returning this status.
public let errSecDecode: OSStatus = -26275
/// The keychain failed in a way that it did not foresee.
public let errSecInternal: OSStatus = -26276
/// The program does not hold the access group that it names, or no group at all.
///
/// Attributes and keychains of Apple's own programs have this status too. `SecCopyErrorMessageString(_:_:)` names the
/// groups that the program holds.
public let errSecMissingEntitlement: OSStatus = -34018
/// No function here returns this status; Apple's keychain has it while an upgrade waits for an unlock.
public let errSecUpgradePending: OSStatus = -34019
/// No function here returns this status; Apple's keychain has it for app clips beyond their limits.
public let errSecRestrictedAPI: OSStatus = -34020

// Other names of the same statuses.

/// The name for an unsupported algorithm has the value of `errSecUnimplemented`.
public let errSecUnsupportedAlgorithm = errSecUnimplemented
/// The name for an unsupported operation of a key has the value of `errSecUnimplemented`.
public let errSecUnsupportedOperation = errSecUnimplemented
/// The name for a certificate that cannot be read has the value of `errSecDecode`.
public let errSecInvalidCertificate = errSecDecode
/// The name for a key that cannot be read has the value of `errSecDecode`.
public let errSecInvalidKey = errSecDecode
/// The name for an unsupported padding has the value of `errSecParam`.
public let errSecUnsupportedPadding = errSecParam
/// The name for an unknown key of a dictionary has the value of `errSecParam`.
public let errSecItemInvalidKey = errSecParam
/// The name for a dictionary's key that is no text has the value of `errSecParam`.
public let errSecItemInvalidKeyType = errSecParam
/// The name for a value of a wrong type or content has the value of `errSecParam`.
public let errSecItemInvalidValue = errSecParam
/// The name for a dictionary without an item class has the value of `errSecParam`.
public let errSecItemClassMissing = errSecParam
/// The name for a match key in a wrong call has the value of `errSecParam`.
public let errSecItemMatchUnsupported = errSecParam
/// The name for a query that contradicts itself has the value of `errSecParam`.
public let errSecItemIllegalQuery = errSecParam
/// The name for a call with `kSecUseItemList` has the value of `errSecParam`.
public let errSecUseItemListUnsupported = errSecParam
/// The name for `kSecReturnData` in a wrong call has the value of `errSecParam`.
public let errSecReturnDataUnsupported = errSecParam
/// The name for `kSecReturnAttributes` in a wrong call has the value of `errSecParam`.
public let errSecReturnAttributesUnsupported = errSecParam
/// The name for `kSecReturnRef` in a wrong call has the value of `errSecParam`.
public let errSecReturnRefUnsupported = errSecParam
/// The name for `kSecReturnPersistentRef` in a wrong call has the value of `errSecParam`.
public let errSecReturnPersistentRefUnsupported = errSecParam
/// The name for a missing place for the result has the value of `errSecParam`.
///
/// The functions here accept a missing place and return nothing.
public let errSecReturnMissingPointer = errSecParam
/// The name for `kSecValueRef` in a wrong call has the value of `errSecParam`.
public let errSecValueRefUnsupported = errSecParam
/// The name for `kSecValuePersistentRef` in a wrong call has the value of `errSecParam`.
public let errSecValuePersistentRefUnsupported = errSecParam
/// The name for a limit in a wrong call has the value of `errSecParam`.
public let errSecMatchLimitUnsupported = errSecParam
