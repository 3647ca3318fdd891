extension Attribute {
    /// The attribute's name for people and scripts; without one, Apple's code of four characters. Names are stable: the
    /// output of the command uses them.
    package var name: String { Self.names[self] ?? code }

    private static let names: [Attribute: String] = [
        .accessGroup: "access group", .accessible: "accessibility", .synchronizable: "synchronizability",
        .label: "label", .viewHint: "viewHint", .tokenID: "tokenID", .alias: "alias",
        .account: "account", .service: "service", .generic: "generic", .description: "description",
        .comment: "comment", .creator: "creator", .type: "type", .scriptCode: "scriptCode",
        .isInvisible: "isInvisible", .isNegative: "isNegative", .hasCustomIcon: "hasCustomIcon",
        .protected: "protected", .securityDomain: "securityDomain", .server: "server",
        .internetProtocol: "protocol", .authenticationType: "authenticationType", .port: "port", .path: "path",
        .certificateType: "certificateType", .certificateEncoding: "certificateEncoding", .subject: "subject",
        .issuer: "issuer", .serialNumber: "serialNumber", .subjectKeyID: "subjectKeyID",
        .publicKeyHash: "publicKeyHash",
        .keyClass: "keyClass", .applicationLabel: "applicationLabel", .applicationTag: "applicationTag",
        .keySizeInBits: "keySizeInBits", .effectiveKeySize: "effectiveKeySize", .startDate: "startDate",
        .endDate: "endDate", .isPermanent: "isPermanent", .isPrivate: "isPrivate", .isModifiable: "isModifiable",
        .isSensitive: "isSensitive", .wasAlwaysSensitive: "wasAlwaysSensitive", .isExtractable: "isExtractable",
        .wasNeverExtractable: "wasNeverExtractable", .canEncrypt: "canEncrypt", .canDecrypt: "canDecrypt",
        .canDerive: "canDerive", .canSign: "canSign", .canVerify: "canVerify", .canWrap: "canWrap",
        .canUnwrap: "canUnwrap", .canSignRecover: "canSignRecover", .canVerifyRecover: "canVerifyRecover",
    ]
}
