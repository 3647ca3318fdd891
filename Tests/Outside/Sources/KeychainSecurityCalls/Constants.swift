import Foundation
import Report
import Security

/// Every constant of the module. Those of one group exclude each other, so each has a text of its own.
enum Constants {
    static func check() {
        tell("Accessibilities are told apart", areDistinct(accessibilities))
        tell("Attributes are told apart", areDistinct(attributes))
        tell("Protocols are told apart", areDistinct(protocols))
        tell("Authentication types are told apart", areDistinct(authenticationTypes))
        tell("Classes of items are told apart", areDistinct(itemClasses))
        tell("Classes of keys are told apart", areDistinct(keyClasses))
        tell("Types of keys are told apart", areDistinct(keyTypes))
        tell("Functions for deriving keys are told apart", areDistinct(pseudorandomFunctions))
        tell("Keys of a search are told apart", areDistinct(searchKeys))
        tell("Values of a search are told apart", areDistinct(searchValues))
        for (one, other) in synonyms { tell("\(one) has two names", CFEqual(one, other)) }
        let all = statuses + otherStatuses
        tell("Statuses are told apart", Set(all).count == all.count)
        for status in statuses + statusSynonyms {
            let text = SecCopyErrorMessageString(status, nil) as String?
            tell("Status \(status) is explained: \(text ?? "")", text?.isEmpty == false)
        }
    }

    private static func areDistinct(_ constants: [CFString]) -> Bool {
        Set(constants.map { $0 as String }).count == constants.count && !constants.contains("")
    }

    private static var accessibilities: [CFString] {
        [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, kSecAttrAccessibleAlwaysThisDeviceOnly,
        ]
    }

    private static var attributes: [CFString] {
        [
            kSecAttrAccess, kSecAttrAccessControl, kSecAttrAccessGroup, kSecAttrAccessible, kSecAttrAccount,
            kSecAttrAlias, kSecAttrApplicationLabel, kSecAttrApplicationTag, kSecAttrAuthenticationType,
            kSecAttrCanDecrypt, kSecAttrCanDerive, kSecAttrCanEncrypt, kSecAttrCanSign, kSecAttrCanSignRecover,
            kSecAttrCanUnwrap, kSecAttrCanVerify, kSecAttrCanVerifyRecover, kSecAttrCanWrap,
            kSecAttrCertificateEncoding, kSecAttrCertificateType, kSecAttrComment, kSecAttrCreationDate,
            kSecAttrExpirationDate,
            kSecAttrCreator, kSecAttrDescription, kSecAttrEffectiveKeySize, kSecAttrEndDate, kSecAttrGeneric,
            kSecAttrHasCustomIcon, kSecAttrIsExtractable, kSecAttrIsInvisible, kSecAttrIsModifiable,
            kSecAttrIsNegative, kSecAttrIsPermanent, kSecAttrIsPrivate, kSecAttrIsSensitive, kSecAttrIssuer,
            kSecAttrKeyClass, kSecAttrKeySizeInBits, kSecAttrLabel, kSecAttrModificationDate,
            kSecAttrPRF, kSecAttrPath, kSecAttrPersistentReference, kSecAttrPort, kSecAttrProtocol,
            kSecAttrPublicKeyHash, kSecAttrRounds, kSecAttrSalt, kSecAttrScriptCode, kSecAttrSecurityDomain,
            kSecAttrSerialNumber, kSecAttrServer, kSecAttrService, kSecAttrStartDate, kSecAttrSubject,
            kSecAttrSubjectKeyID, kSecAttrSyncViewHint, kSecAttrSynchronizable, kSecAttrTokenID, kSecAttrType,
            kSecAttrWasAlwaysSensitive, kSecAttrWasNeverExtractable, kSecPrivateKeyAttrs, kSecPublicKeyAttrs,
        ]
    }

    private static var protocols: [CFString] {
        [
            kSecAttrProtocolAFP, kSecAttrProtocolAppleTalk, kSecAttrProtocolDAAP, kSecAttrProtocolEPPC,
            kSecAttrProtocolFTP, kSecAttrProtocolFTPAccount, kSecAttrProtocolFTPProxy, kSecAttrProtocolFTPS,
            kSecAttrProtocolHTTP, kSecAttrProtocolHTTPProxy, kSecAttrProtocolHTTPS, kSecAttrProtocolHTTPSProxy,
            kSecAttrProtocolIMAP, kSecAttrProtocolIMAPS, kSecAttrProtocolIPP, kSecAttrProtocolIRC,
            kSecAttrProtocolIRCS, kSecAttrProtocolLDAP, kSecAttrProtocolLDAPS, kSecAttrProtocolNNTP,
            kSecAttrProtocolNNTPS, kSecAttrProtocolPOP3, kSecAttrProtocolPOP3S, kSecAttrProtocolRTSP,
            kSecAttrProtocolRTSPProxy, kSecAttrProtocolSMB, kSecAttrProtocolSMTP, kSecAttrProtocolSOCKS,
            kSecAttrProtocolSSH, kSecAttrProtocolTelnet, kSecAttrProtocolTelnetS,
        ]
    }

    private static var authenticationTypes: [CFString] {
        [
            kSecAttrAuthenticationTypeDPA, kSecAttrAuthenticationTypeDefault, kSecAttrAuthenticationTypeHTMLForm,
            kSecAttrAuthenticationTypeHTTPBasic, kSecAttrAuthenticationTypeHTTPDigest, kSecAttrAuthenticationTypeMSN,
            kSecAttrAuthenticationTypeNTLM, kSecAttrAuthenticationTypeRPA,
        ]
    }

    private static var itemClasses: [CFString] {
        [
            kSecClassCertificate, kSecClassGenericPassword, kSecClassIdentity, kSecClassInternetPassword,
            kSecClassKey,
        ]
    }

    private static var keyClasses: [CFString] {
        [kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic, kSecAttrKeyClassSymmetric]
    }

    private static var keyTypes: [CFString] {
        [
            kSecAttrKeyType3DES, kSecAttrKeyTypeAES, kSecAttrKeyTypeCAST, kSecAttrKeyTypeDES, kSecAttrKeyTypeDSA,
            kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyTypeRC2, kSecAttrKeyTypeRC4, kSecAttrKeyTypeRSA,
        ]
    }

    private static var pseudorandomFunctions: [CFString] {
        [
            kSecAttrPRFHmacAlgSHA1, kSecAttrPRFHmacAlgSHA224, kSecAttrPRFHmacAlgSHA256, kSecAttrPRFHmacAlgSHA384,
            kSecAttrPRFHmacAlgSHA512,
        ]
    }

    private static var searchKeys: [CFString] {
        [
            kSecClass, kSecMatchCaseInsensitive, kSecMatchDiacriticInsensitive, kSecMatchEmailAddressIfPresent,
            kSecMatchHostOrSubdomainOfHost, kSecMatchIssuers, kSecMatchItemList, kSecMatchLimit, kSecMatchPolicy,
            kSecMatchSearchList, kSecMatchSubjectContains, kSecMatchSubjectEndsWith, kSecMatchSubjectStartsWith,
            kSecMatchSubjectWholeString, kSecMatchTrustedOnly, kSecMatchValidOnDate, kSecMatchWidthInsensitive,
            kSecReturnAttributes, kSecReturnData, kSecReturnPersistentRef, kSecReturnRef,
            kSecUseAuthenticationContext, kSecUseAuthenticationUI, kSecUseDataProtectionKeychain, kSecUseItemList,
            kSecUseKeychain, kSecUseNoAuthenticationUI, kSecUseOperationPrompt, kSecUseUserIndependentKeychain,
            kSecValueData, kSecValuePersistentRef, kSecValueRef,
        ]
    }

    private static var searchValues: [CFString] {
        [
            kSecAttrAccessGroupToken, kSecAttrSynchronizableAny, kSecAttrTokenIDSecureEnclave, kSecMatchLimitAll,
            kSecMatchLimitOne, kSecUseAuthenticationUIAllow, kSecUseAuthenticationUIFail, kSecUseAuthenticationUISkip,
        ]
    }

    private static var synonyms: [(CFString, CFString)] {
        [
            (kSecAttrCreator, kSecAttrKeyCreator),
            (kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyTypeEC),
            (kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyTypeECDSA),
            (kSecAttrPersistentReference, kSecAttrPersistantReference),
            (kSecAttrType, kSecAttrKeyType),
        ]
    }

    private static var statuses: [OSStatus] {
        [
            errSecAllocate, errSecAuthFailed, errSecAuthNeeded, errSecBadReq, errSecDataNotAvailable,
            errSecDataTooLarge, errSecDecode, errSecDiskFull, errSecDuplicateItem, errSecIO,
            errSecInteractionNotAllowed, errSecInteractionRequired, errSecInternal, errSecInternalComponent,
            errSecInvalidItemRef, errSecItemNotFound, errSecKeySizeNotAllowed, errSecMissingEntitlement,
            errSecNoSuchAttr, errSecNoSuchClass, errSecNoSuchKeychain, errSecNotAvailable, errSecParam,
            errSecPassphraseRequired, errSecPolicyDenied, errSecReadOnly, errSecReadOnlyAttr, errSecRestrictedAPI,
            errSecSuccess, errSecUnimplemented, errSecUpgradePending, errSecUserCanceled,
        ]
    }

    private static var statusSynonyms: [OSStatus] {
        [
            noErr, errSecInvalidCertificate, errSecInvalidKey, errSecItemClassMissing, errSecItemIllegalQuery,
            errSecItemInvalidKey, errSecItemInvalidKeyType, errSecItemInvalidValue, errSecItemMatchUnsupported,
            errSecMatchLimitUnsupported, errSecReturnAttributesUnsupported, errSecReturnDataUnsupported,
            errSecReturnMissingPointer, errSecReturnPersistentRefUnsupported, errSecReturnRefUnsupported,
            errSecUnsupportedAlgorithm, errSecUnsupportedOperation, errSecUnsupportedPadding,
            errSecUseItemListUnsupported, errSecValuePersistentRefUnsupported, errSecValueRefUnsupported,
        ]
    }
}
