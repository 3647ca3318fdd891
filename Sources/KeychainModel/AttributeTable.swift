internal import FoundationEssentials

/// The rules of a class for one of its attributes.
package struct AttributeRule: Sendable {
    package let attribute: Attribute
    package let kind: AttributeKind
    /// The value that takes part in uniqueness where none is given; nil for an attribute outside of it.
    package let uniquenessDefault: AttributeValue?
    /// Whether the store keeps an index entry for the attribute's value.
    package let isIndexed: Bool
}

/// The attributes of one item class, apart from the ones every item carries in fields of its own
/// (access group, protection, access control, synchronizable, dates).
///
/// The order is from the most to the least selective: a search starts with the first one it names.
package struct AttributeTable: Sendable {
    package let rules: [AttributeRule]
    private let index: [Attribute: Int]

    private init(_ rules: [AttributeRule]) {
        self.rules = rules
        self.index = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.attribute, $0) })
    }

    package subscript(attribute: Attribute) -> AttributeRule? {
        index[attribute].map { rules[$0] }
    }

    /// The attributes that together must be unique, in a fixed order.
    package var uniqueness: [AttributeRule] { rules.filter { $0.uniquenessDefault != nil } }

    package static func table(for itemClass: ItemClass) -> AttributeTable {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .key: key
        case .identity: identity
        }
    }
}

extension AttributeTable {
    private static func unique(
        _ attribute: Attribute, _ kind: AttributeKind, default value: AttributeValue, indexed: Bool = true
    ) -> AttributeRule {
        AttributeRule(attribute: attribute, kind: kind, uniquenessDefault: value, isIndexed: indexed)
    }

    private static func indexed(_ attribute: Attribute, _ kind: AttributeKind) -> AttributeRule {
        AttributeRule(attribute: attribute, kind: kind, uniquenessDefault: nil, isIndexed: true)
    }

    private static func plain(_ attribute: Attribute, _ kind: AttributeKind) -> AttributeRule {
        AttributeRule(attribute: attribute, kind: kind, uniquenessDefault: nil, isIndexed: false)
    }

    private static let noText = AttributeValue.text("")
    private static let noData = AttributeValue.data(Data())
    private static let zero = AttributeValue.number(0)
    private static let epoch = AttributeValue.date(0)

    /// Part of every class's uniqueness, though few callers ever set them.
    private static let everyItem = [
        unique(.viewHint, .string, default: noText, indexed: false),
        unique(.tokenID, .string, default: noText, indexed: false),
    ]

    private static let everyPassword = [
        indexed(.label, .blob), indexed(.alias, .blob), indexed(.description, .blob),
        indexed(.comment, .blob), indexed(.creator, .number), indexed(.type, .number),
        plain(.scriptCode, .number), plain(.isInvisible, .number), plain(.isNegative, .number),
        plain(.hasCustomIcon, .number), plain(.protected, .blob),
    ]

    private static let genericPassword = AttributeTable(
        [
            unique(.account, .blob, default: noText),
            unique(.service, .blob, default: noText),
            indexed(.generic, .blob),
        ] + everyPassword + everyItem)

    private static let internetPassword = AttributeTable(
        [
            unique(.account, .blob, default: noText),
            unique(.server, .blob, default: noText),
            unique(.path, .blob, default: noText),
            unique(.securityDomain, .blob, default: noText),
            unique(.port, .number, default: zero),
            unique(.internetProtocol, .number, default: zero),
            unique(.authenticationType, .blob, default: noText),
        ] + everyPassword + everyItem)

    private static let certificateRules = [
        unique(.serialNumber, .data, default: noData),
        indexed(.publicKeyHash, .data), indexed(.subjectKeyID, .data), indexed(.subject, .data),
        unique(.issuer, .data, default: noData),
        indexed(.label, .blob), indexed(.alias, .blob),
        unique(.certificateType, .number, default: zero, indexed: false),
        plain(.certificateEncoding, .number),
    ]
    private static let certificate = AttributeTable(certificateRules + everyItem)

    private static let keyRules = [
        unique(.applicationLabel, .data, default: noData),
        unique(.applicationTag, .blob, default: noText),
        indexed(.label, .blob), indexed(.alias, .blob),
        unique(.keyClass, .number, default: zero, indexed: false),
        unique(.creator, .number, default: zero, indexed: false),
        unique(.type, .number, default: zero, indexed: false),
        unique(.keySizeInBits, .number, default: zero, indexed: false),
        unique(.effectiveKeySize, .number, default: zero, indexed: false),
        unique(.startDate, .date, default: epoch, indexed: false),
        unique(.endDate, .date, default: epoch, indexed: false),
    ]
    private static let keyFlags: [AttributeRule] =
        [
            .isPermanent, .isPrivate, .isModifiable, .isSensitive, .wasAlwaysSensitive, .isExtractable,
            .wasNeverExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap,
            .canUnwrap, .canSignRecover, .canVerifyRecover,
        ].map { plain($0, .number) } + [plain(.tokenObjectID, .data)]
    private static let key = AttributeTable(keyRules + keyFlags + everyItem)

    /// Everything a certificate or a key has: a search for identities asks the certificate first.
    private static let identity: AttributeTable = {
        let certificates = Set(certificateRules.map(\.attribute))
        let keys = (keyRules + keyFlags).filter { !certificates.contains($0.attribute) }
        return AttributeTable(certificateRules + keys + everyItem)
    }()
}
