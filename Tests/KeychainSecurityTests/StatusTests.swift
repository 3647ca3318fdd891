import KeychainModel
import KeychainSecurity
import Testing

@Suite("Statuses")
struct StatusTests {
    private static let statuses: [OSStatus: OSStatus] = [
        errSecSuccess: 0, errSecUnimplemented: -4, errSecDiskFull: -34, errSecIO: -36, errSecParam: -50,
        errSecAllocate: -108, errSecUserCanceled: -128, errSecBadReq: -909, errSecInternalComponent: -2070,
        errSecPassphraseRequired: -25260, errSecNotAvailable: -25291, errSecReadOnly: -25292, errSecAuthFailed: -25293,
        errSecNoSuchKeychain: -25294,
        errSecDuplicateItem: -25299, errSecItemNotFound: -25300, errSecDataTooLarge: -25302,
        errSecNoSuchAttr: -25303, errSecInvalidItemRef: -25304, errSecNoSuchClass: -25306,
        errSecInteractionNotAllowed: -25308, errSecReadOnlyAttr: -25309, errSecKeySizeNotAllowed: -25311,
        errSecInteractionRequired: -25315, errSecDataNotAvailable: -25316, errSecAuthNeeded: -25330,
        errSecPolicyDenied: -26270, errSecDecode: -26275, errSecInternal: -26276,
        errSecMissingEntitlement: -34018, errSecUpgradePending: -34019, errSecRestrictedAPI: -34020,
    ]

    @Test("Statuses have Apple's numbers and texts of their own")
    func numbers() {
        #expect(Self.statuses.allSatisfy { $0.key == $0.value })
        #expect(noErr == errSecSuccess)
        let texts = Self.statuses.keys.map(statusMessage)
        #expect(Set(texts).count == Self.statuses.count)
        #expect(texts.allSatisfy { $0.hasSuffix(".") && !$0.contains("no text") })
    }

    @Test("An unknown status has a text that names it")
    func unknown() {
        #expect(statusMessage(-12345).contains("-12345"))
    }

    @Test("Every failure of the model has a status with a text")
    func modelFailures() {
        let codes: [KeychainError.Code] = [
            .unimplemented, .inputOutput, .diskFull, .parameter, .allocation, .userCancelled, .notAvailable,
            .readOnly, .authenticationFailed, .duplicateItem, .itemNotFound, .dataTooLarge, .noSuchAttribute,
            .noSuchClass, .interactionNotAllowed, .decode, .internalFailure, .missingEntitlement,
            .noPasscode, .noSuchKeychain,
        ]
        #expect(codes.allSatisfy { Self.statuses[$0.status] != nil })
    }

    @Test("Code that tells all of Apple's statuses apart compiles")
    func others() {
        func isTold(_ status: OSStatus) -> Bool {
            switch status {
            case errSecOpWr, errSecWrPerm, errSecBufferTooSmall, errSecNoDefaultKeychain, errSecInDarkWake: true
            case errSecUnknownFormat, errSecPkcs12VerifyFailure, errSecCreateChainFailed, errSecNotSigner: true
            case errSecServiceNotAvailable, errSecHostNameMismatch, errSecInvalidKeyRef, errSecVerifyFailed: true
            case errSecCertificateExpired, errSecNotTrusted, errSecCertificateDuplicateExtension: true
            default: false
            }
        }
        let numbers: [OSStatus] = [-49, -61, -25301, -25307, -25320, -25257, -25264, -25318, -26267]
        #expect(numbers.allSatisfy(isTold))
        #expect([-67585, -67602, -67712, -67808, -67818, -67843, -67903].allSatisfy(isTold))
    }

    @Test("Other names of a status are the same number")
    func aliases() {
        #expect(errSecUnsupportedOperation == errSecUnimplemented)
        #expect(errSecUnsupportedAlgorithm == errSecUnimplemented)
        #expect(errSecInvalidKey == errSecDecode)
        #expect(errSecInvalidCertificate == errSecDecode)
        #expect(errSecItemClassMissing == errSecParam)
    }
}
