internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSystem

/// The object that `--json` prints for an item, without the secret.
extension Item: Keyed {
    static let fields: [Field<Self>] = [
        Field("class", "`generic`, `internet`, `certificate`, `key`, `identity`") { $0.itemClass },
        Field("reference", "the persistent reference: 20 bytes in base64") {
            $0.persistentReference.data.base64EncodedString()
        },
        Field("group", "the access group") { $0.accessGroup },
        Field("synchronizable", "boolean") { $0.synchronizable },
        Field("accessible", "a name as for `--accessible`") { $0.accessControl.protection },
        Field(
            "constraints",
            "the authentication that reading asks for: \(AccessControl.Flags.known.names.map { "`\($0)`" }.joined(separator: ", ")); "
                + "mostly empty"
        ) { $0.accessControl.flags.names },
        Field("created", "a date") { Timestamp.text($0.created) },
        Field("modified", "a date") { Timestamp.text($0.modified) },
        Field("expires", "a date, or null: never") { $0.expires.map { Timestamp.text($0.seconds) } },
        Field(
            "inEngine", "of keys: whether it is kept in the engine, which its bytes never leave",
            when: { $0.itemClass == .key }
        ) { $0.isKeptInEngine },
        Field("attributes", "an object: see below") { $0.attributes },
    ]
}

extension AttributeValue {
    /// The value for a person.
    ///
    /// - Parameters:
    ///   - attribute: The attribute that has the value; nil: any one with a text that counts as it is.
    ///   - bytes: The words for a value that is no text.
    func text(of attribute: Attribute? = nil, bytes: (Data) -> String) -> String {
        switch self {
        case .text(let code) where attribute == .internetProtocol: InternetProtocol.name(ofCode: code)
        case .text(let text): text
        case .number(let number): String(number)
        case .date(let seconds): Timestamp.short(seconds)
        case .data(let data): bytes(data)
        }
    }
}

extension AttributeSet: JSONConvertible {
    var json: JSONValue {
        let named = entries.map { (key: $0.attribute.name, value: Self.json($0.value, of: $0.attribute)) }
        return .object(named.sorted { $0.key < $1.key })
    }

    private static func json(_ value: AttributeValue, of attribute: Attribute) -> JSONValue {
        switch value {
        case .data(let data): .object([("base64", data.base64EncodedString().json)])
        case .number(let number): .number(number)
        case .date(let seconds): .string(Timestamp.text(seconds))
        case .text: value.text(of: attribute) { _ in "" }.json
        }
    }
}

/// Moments as ISO 8601 in UTC, with milliseconds.
enum Timestamp {
    static func text(_ seconds: Double) -> String {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return Date(timeIntervalSinceReferenceDate: seconds).formatted(style)
    }

    static func text(_ date: Date) -> String { text(date.timeIntervalSinceReferenceDate) }

    /// The minute in local time, for tables.
    static func short(_ seconds: Double) -> String {
        LocalTime.minute(Date(timeIntervalSinceReferenceDate: seconds))
    }
}
