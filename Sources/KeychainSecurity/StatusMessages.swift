/// Explains a status to a person where nothing is known about the call that returned it.
package func statusMessage(_ status: OSStatus) -> String {
    messages[status] ?? "The keychain has no text for the status \(status)."
}

private let messages: [OSStatus: String] = [
    errSecSuccess: "The operation succeeded.",
    errSecUnimplemented: "This keychain does not support the operation, or not for this item class.",
    errSecDiskFull: "The file system that holds the keychain has no space left.",
    errSecIO: "The keychain's files could not be read or written.",
    errSecParam: "The request is malformed: a key, a value or a combination of them is not allowed.",
    errSecAllocate: "There is not enough memory for the operation.",
    errSecUserCanceled: "The person cancelled the authentication.",
    errSecBadReq: "The request does not fit the state that the keychain is in.",
    errSecInternalComponent: "A part of the system that the keychain relies on failed.",
    errSecPassphraseRequired: "The operation needs a passcode, and none is set.",
    errSecNotAvailable: "The keychain cannot be opened, or its host cannot be reached.",
    errSecReadOnly: "The keychain can be read but not written.",
    errSecAuthFailed: "The authentication failed, or the item does not permit the operation.",
    errSecNoSuchKeychain: "What was asked about belongs to another keychain, or to keys that are no more.",
    errSecDuplicateItem: "There already is an item with the same identifying attributes.",
    errSecItemNotFound: "No item matches the request.",
    errSecDataTooLarge: "The data is larger than an item can hold.",
    errSecNoSuchAttr: "The item class does not have one of the attributes.",
    errSecInvalidItemRef: "The reference does not lead to an item.",
    errSecNoSuchClass: "There is no such item class, or the reference is of another class.",
    errSecInteractionNotAllowed:
        "The item cannot be used now: its class is locked, or it asks for a person and that is not allowed.",
    errSecReadOnlyAttr: "One of the attributes cannot be changed.",
    errSecKeySizeNotAllowed: "The algorithm does not permit keys of this size.",
    errSecInteractionRequired: "The operation cannot go on without asking a person.",
    errSecDataNotAvailable: "The item's data is not available.",
    errSecAuthNeeded: "The host wants an authentication before it answers.",
    errSecPolicyDenied: "A policy does not accept the certificate chain.",
    errSecDecode: "The data is damaged, or is not in the form it should have.",
    errSecInternal: "The keychain failed in a way that it did not foresee.",
    errSecMissingEntitlement: "The program does not hold the access group or entitlement that this needs.",
    errSecUpgradePending: "The keychain must be unlocked once to finish an upgrade.",
    errSecRestrictedAPI: "The program is not permitted to use this function.",
]
