import Security

/// Every algorithm of keys.
enum Algorithms {
    static let rsaSignatures: [SecKeyAlgorithm] = [
        .rsaSignatureRaw, .rsaSignatureDigestPKCS1v15Raw, .rsaSignatureDigestPKCS1v15SHA1,
        .rsaSignatureDigestPKCS1v15SHA224, .rsaSignatureDigestPKCS1v15SHA256, .rsaSignatureDigestPKCS1v15SHA384,
        .rsaSignatureDigestPKCS1v15SHA512, .rsaSignatureMessagePKCS1v15SHA1, .rsaSignatureMessagePKCS1v15SHA224,
        .rsaSignatureMessagePKCS1v15SHA256, .rsaSignatureMessagePKCS1v15SHA384, .rsaSignatureMessagePKCS1v15SHA512,
        .rsaSignatureDigestPSSSHA1, .rsaSignatureDigestPSSSHA224, .rsaSignatureDigestPSSSHA256,
        .rsaSignatureDigestPSSSHA384, .rsaSignatureDigestPSSSHA512, .rsaSignatureMessagePSSSHA1,
        .rsaSignatureMessagePSSSHA224, .rsaSignatureMessagePSSSHA256, .rsaSignatureMessagePSSSHA384,
        .rsaSignatureMessagePSSSHA512,
    ]

    static let curveSignatures: [SecKeyAlgorithm] = [
        .ecdsaSignatureDigestRFC4754, .ecdsaSignatureDigestRFC4754SHA1, .ecdsaSignatureDigestRFC4754SHA224,
        .ecdsaSignatureDigestRFC4754SHA256, .ecdsaSignatureDigestRFC4754SHA384, .ecdsaSignatureDigestRFC4754SHA512,
        .ecdsaSignatureMessageRFC4754SHA1, .ecdsaSignatureMessageRFC4754SHA224, .ecdsaSignatureMessageRFC4754SHA256,
        .ecdsaSignatureMessageRFC4754SHA384, .ecdsaSignatureMessageRFC4754SHA512, .ecdsaSignatureDigestX962,
        .ecdsaSignatureDigestX962SHA1, .ecdsaSignatureDigestX962SHA224, .ecdsaSignatureDigestX962SHA256,
        .ecdsaSignatureDigestX962SHA384, .ecdsaSignatureDigestX962SHA512, .ecdsaSignatureMessageX962SHA1,
        .ecdsaSignatureMessageX962SHA224, .ecdsaSignatureMessageX962SHA256, .ecdsaSignatureMessageX962SHA384,
        .ecdsaSignatureMessageX962SHA512,
    ]

    static let rsaEncryption: [SecKeyAlgorithm] = [
        .rsaEncryptionRaw, .rsaEncryptionPKCS1, .rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA224,
        .rsaEncryptionOAEPSHA256, .rsaEncryptionOAEPSHA384, .rsaEncryptionOAEPSHA512, .rsaEncryptionOAEPSHA1AESGCM,
        .rsaEncryptionOAEPSHA224AESGCM, .rsaEncryptionOAEPSHA256AESGCM, .rsaEncryptionOAEPSHA384AESGCM,
        .rsaEncryptionOAEPSHA512AESGCM,
    ]

    static let curveEncryption: [SecKeyAlgorithm] = [
        .eciesEncryptionStandardX963SHA1AESGCM, .eciesEncryptionStandardX963SHA224AESGCM,
        .eciesEncryptionStandardX963SHA256AESGCM, .eciesEncryptionStandardX963SHA384AESGCM,
        .eciesEncryptionStandardX963SHA512AESGCM, .eciesEncryptionStandardVariableIVX963SHA224AESGCM,
        .eciesEncryptionStandardVariableIVX963SHA256AESGCM, .eciesEncryptionStandardVariableIVX963SHA384AESGCM,
        .eciesEncryptionStandardVariableIVX963SHA512AESGCM, .eciesEncryptionCofactorX963SHA1AESGCM,
        .eciesEncryptionCofactorX963SHA224AESGCM, .eciesEncryptionCofactorX963SHA256AESGCM,
        .eciesEncryptionCofactorX963SHA384AESGCM, .eciesEncryptionCofactorX963SHA512AESGCM,
        .eciesEncryptionCofactorVariableIVX963SHA224AESGCM, .eciesEncryptionCofactorVariableIVX963SHA256AESGCM,
        .eciesEncryptionCofactorVariableIVX963SHA384AESGCM, .eciesEncryptionCofactorVariableIVX963SHA512AESGCM,
    ]

    static let exchanges: [SecKeyAlgorithm] = [
        .ecdhKeyExchangeStandard, .ecdhKeyExchangeStandardX963SHA1, .ecdhKeyExchangeStandardX963SHA224,
        .ecdhKeyExchangeStandardX963SHA256, .ecdhKeyExchangeStandardX963SHA384, .ecdhKeyExchangeStandardX963SHA512,
        .ecdhKeyExchangeCofactor, .ecdhKeyExchangeCofactorX963SHA1, .ecdhKeyExchangeCofactorX963SHA224,
        .ecdhKeyExchangeCofactorX963SHA256, .ecdhKeyExchangeCofactorX963SHA384, .ecdhKeyExchangeCofactorX963SHA512,
    ]

    static let all = rsaSignatures + curveSignatures + rsaEncryption + curveEncryption + exchanges
}
