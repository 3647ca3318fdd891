import KeychainModel
import KeychainSecurity
import Testing

@Suite("Constants")
struct ConstantTests {
    @Test("Item classes have Apple's values, and every one is known to the model")
    func itemClasses() {
        let classes = [
            kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey,
            kSecClassIdentity,
        ]
        #expect(kSecClass == "class")
        #expect(classes == ["genp", "inet", "cert", "keys", "idnt"])
        #expect(Set(classes.map { ItemClass(rawValue: $0 as String) }) == Set(ItemClass.allCases))
    }

    @Test("Accessibilities have Apple's values, and every one is known to the model")
    func accessibilities() {
        let accessibilities = [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
        ]
        #expect(accessibilities == ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"])
        #expect(Set(accessibilities.map { Protection(rawValue: $0 as String) }) == Set(Protection.allCases))
    }

    @Test("Attributes of every item have Apple's values")
    func commonAttributes() {
        let attributes = [
            kSecAttrAccessible, kSecAttrAccessControl, kSecAttrAccessGroup, kSecAttrSynchronizable,
            kSecAttrCreationDate, kSecAttrModificationDate, kSecAttrLabel, kSecAttrSyncViewHint,
            kSecAttrTokenID, kSecAttrAlias, kSecAttrPersistentReference, kSecAttrPersistantReference,
        ]
        #expect(
            attributes == [
                "pdmn", "accc", "agrp", "sync", "cdat", "mdat", "labl", "vwht", "tkid", "alis", "persistref",
                "persistref",
            ])
        #expect(kSecAttrSynchronizableAny == "syna")
        #expect(kSecAttrTokenIDSecureEnclave == "com.apple.setoken")
        #expect(kSecAttrAccessGroupToken as String == Caller.tokenGroup)
    }

    @Test("Attributes of passwords have Apple's values")
    func passwordAttributes() {
        let attributes = [
            kSecAttrAccount, kSecAttrService, kSecAttrGeneric, kSecAttrDescription, kSecAttrComment,
            kSecAttrCreator, kSecAttrType, kSecAttrScriptCode, kSecAttrIsInvisible, kSecAttrIsNegative,
            kSecAttrHasCustomIcon, kSecAttrServer, kSecAttrProtocol, kSecAttrPort, kSecAttrPath,
            kSecAttrSecurityDomain, kSecAttrAuthenticationType,
        ]
        #expect(
            attributes == [
                "acct", "svce", "gena", "desc", "icmt", "crtr", "type", "scrp", "invi", "nega", "cusi", "srvr",
                "ptcl", "port", "path", "sdmn", "atyp",
            ])
    }

    @Test("Attributes of certificates have Apple's values")
    func certificateAttributes() {
        let attributes = [
            kSecAttrCertificateType, kSecAttrCertificateEncoding, kSecAttrSubject, kSecAttrIssuer,
            kSecAttrSerialNumber, kSecAttrSubjectKeyID, kSecAttrPublicKeyHash,
        ]
        #expect(attributes == ["ctyp", "cenc", "subj", "issr", "slnr", "skid", "pkhh"])
    }

    @Test("Attributes of keys have Apple's values")
    func keyAttributes() {
        let attributes = [
            kSecAttrKeyClass, kSecAttrApplicationLabel, kSecAttrApplicationTag, kSecAttrKeyCreator,
            kSecAttrKeyType, kSecAttrKeySizeInBits, kSecAttrEffectiveKeySize, kSecAttrStartDate,
            kSecAttrEndDate, kSecAttrIsPermanent, kSecAttrIsPrivate, kSecAttrIsModifiable,
            kSecAttrIsSensitive, kSecAttrWasAlwaysSensitive, kSecAttrIsExtractable,
            kSecAttrWasNeverExtractable, kSecAttrCanEncrypt, kSecAttrCanDecrypt, kSecAttrCanDerive,
            kSecAttrCanSign, kSecAttrCanVerify, kSecAttrCanWrap, kSecAttrCanUnwrap, kSecAttrCanSignRecover,
            kSecAttrCanVerifyRecover,
        ]
        #expect(
            attributes == [
                "kcls", "klbl", "atag", "crtr", "type", "bsiz", "esiz", "sdat", "edat", "perm", "priv", "modi",
                "sens", "asen", "extr", "next", "encr", "decr", "drve", "sign", "vrfy", "wrap", "unwp", "snrc",
                "vyrc",
            ])
        #expect([kSecPrivateKeyAttrs, kSecPublicKeyAttrs] == ["private", "public"])
    }

    @Test("Key classes, key types and pseudo-random functions have Apple's values")
    func keyValues() {
        #expect(
            [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate, kSecAttrKeyClassSymmetric] == ["0", "1", "2"])
        let types = [
            kSecAttrKeyTypeRSA, kSecAttrKeyTypeDSA, kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyTypeEC,
            kSecAttrKeyTypeECDSA, kSecAttrKeyTypeAES, kSecAttrKeyTypeDES, kSecAttrKeyType3DES,
            kSecAttrKeyTypeRC2, kSecAttrKeyTypeRC4, kSecAttrKeyTypeCAST,
        ]
        #expect(types == ["42", "43", "73", "73", "73", "2147483649", "14", "17", "23", "25", "56"])
        let derivation = [
            kSecAttrPRF, kSecAttrSalt, kSecAttrRounds, kSecAttrPRFHmacAlgSHA1, kSecAttrPRFHmacAlgSHA224,
            kSecAttrPRFHmacAlgSHA256, kSecAttrPRFHmacAlgSHA384, kSecAttrPRFHmacAlgSHA512,
        ]
        #expect(
            derivation == ["prf", "salt", "rounds", "hsha1", "hsha224", "hsha256", "hsha384", "hsha512"])
    }

    @Test("Protocols have Apple's values, four characters each")
    func protocols() {
        let protocols = [
            kSecAttrProtocolFTP, kSecAttrProtocolFTPAccount, kSecAttrProtocolHTTP, kSecAttrProtocolIRC,
            kSecAttrProtocolNNTP, kSecAttrProtocolPOP3, kSecAttrProtocolSMTP, kSecAttrProtocolSOCKS,
            kSecAttrProtocolIMAP, kSecAttrProtocolLDAP, kSecAttrProtocolAppleTalk, kSecAttrProtocolAFP,
            kSecAttrProtocolTelnet, kSecAttrProtocolSSH, kSecAttrProtocolFTPS, kSecAttrProtocolHTTPS,
            kSecAttrProtocolHTTPProxy, kSecAttrProtocolHTTPSProxy, kSecAttrProtocolFTPProxy,
            kSecAttrProtocolSMB, kSecAttrProtocolRTSP, kSecAttrProtocolRTSPProxy, kSecAttrProtocolDAAP,
            kSecAttrProtocolEPPC, kSecAttrProtocolIPP, kSecAttrProtocolNNTPS, kSecAttrProtocolLDAPS,
            kSecAttrProtocolTelnetS, kSecAttrProtocolIMAPS, kSecAttrProtocolIRCS, kSecAttrProtocolPOP3S,
        ]
        #expect(
            protocols == [
                "ftp ", "ftpa", "http", "irc ", "nntp", "pop3", "smtp", "sox ", "imap", "ldap", "atlk", "afp ",
                "teln", "ssh ", "ftps", "htps", "htpx", "htsx", "ftpx", "smb ", "rtsp", "rtsx", "daap", "eppc",
                "ipp ", "ntps", "ldps", "tels", "imps", "ircs", "pops",
            ])
        #expect(protocols.allSatisfy { $0.length == 4 })
    }

    @Test("Authentication types have Apple's values")
    func authenticationTypes() {
        let types = [
            kSecAttrAuthenticationTypeNTLM, kSecAttrAuthenticationTypeMSN, kSecAttrAuthenticationTypeDPA,
            kSecAttrAuthenticationTypeRPA, kSecAttrAuthenticationTypeHTTPBasic,
            kSecAttrAuthenticationTypeHTTPDigest, kSecAttrAuthenticationTypeHTMLForm,
            kSecAttrAuthenticationTypeDefault,
        ]
        #expect(types == ["ntlm", "msna", "dpaa", "rpaa", "http", "httd", "form", "dflt"])
    }

    @Test("Match keys have Apple's values")
    func matchKeys() {
        let limits = [kSecMatchLimit, kSecMatchLimitOne, kSecMatchLimitAll]
        #expect(limits == ["m_Limit", "m_LimitOne", "m_LimitAll"])
        let keys = [
            kSecMatchPolicy, kSecMatchIssuers, kSecMatchEmailAddressIfPresent, kSecMatchTrustedOnly,
            kSecMatchValidOnDate, kSecMatchHostOrSubdomainOfHost, kSecMatchItemList, kSecMatchSearchList,
            kSecMatchCaseInsensitive, kSecMatchDiacriticInsensitive, kSecMatchWidthInsensitive,
        ]
        #expect(
            keys == [
                "m_Policy", "m_Issuers", "m_EmailAddressIfPresent", "m_TrustedOnly", "m_ValidOnDate",
                "m_HostOrSubdomainOfHost", "m_ItemList", "m_SearchList", "m_CaseInsensitive",
                "m_DiacriticInsensitive", "m_WidthInsensitive",
            ])
        let subjects = [
            kSecMatchSubjectContains, kSecMatchSubjectStartsWith, kSecMatchSubjectEndsWith,
            kSecMatchSubjectWholeString,
        ]
        #expect(
            subjects == [
                "m_SubjectContains", "m_SubjectStartsWith", "m_SubjectEndsWith", "m_SubjectWholeString",
            ])
    }

    @Test("Return, value and use keys have Apple's values")
    func otherKeys() {
        let returns = [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef]
        #expect(returns == ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"])
        let values = [kSecValueData, kSecValueRef, kSecValuePersistentRef]
        #expect(values == ["v_Data", "v_Ref", "v_PersistentRef"])
        let uses = [
            kSecUseDataProtectionKeychain, kSecUseAuthenticationContext, kSecUseAuthenticationUI,
            kSecUseAuthenticationUIAllow, kSecUseAuthenticationUIFail, kSecUseAuthenticationUISkip,
            kSecUseNoAuthenticationUI, kSecUseOperationPrompt, kSecUseKeychain, kSecUseItemList,
        ]
        #expect(
            uses == [
                "nleg", "u_AuthCtx", "u_AuthUI", "u_AuthUIA", "u_AuthUIF", "u_AuthUIS", "u_NoAuthUI",
                "u_OpPrompt", "u_Keychain", "u_ItemList",
            ])
    }

    @Test("Constants can be used from a task")
    func tasks() async {
        let query = await Task { [kSecClass as String: kSecClassKey as String] }.value
        #expect(query == ["class": "keys"])
    }
}
