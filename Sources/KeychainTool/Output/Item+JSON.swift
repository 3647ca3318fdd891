internal import Foundation
internal import KeychainModel

extension Item {
    /// The object that `--json` prints for an item, without the secret.
    var json: JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("class", .string(ItemKind(itemClass).rawValue)),
            ("reference", .string(persistentReference.data.base64EncodedString())),
            ("group", .string(accessGroup)),
            ("synchronizable", .boolean(synchronizable)),
            ("accessible", .string(Accessibility(accessControl.protection).rawValue)),
            ("constraints", .array(accessControl.flags.names.map(JSONValue.string))),
            ("created", .string(Timestamp.text(created))),
            ("modified", .string(Timestamp.text(modified))),
            ("expires", expires.map { .string(Timestamp.text($0.seconds)) } ?? .null),
        ]
        if itemClass == .key { members.append(("inEngine", .boolean(isKeptInEngine))) }
        let named = attributes.entries.map { entry in
            (key: entry.attribute.name, value: Self.json(entry.value, of: entry.attribute))
        }
        members.append(("attributes", .object(named.sorted { $0.key < $1.key })))
        return .object(members)
    }

    private static func json(_ value: AttributeValue, of attribute: Attribute) -> JSONValue {
        switch value {
        case .text(let code) where attribute == .internetProtocol:
            .string(InternetProtocol.name(ofCode: code))
        case .text(let text): .string(text)
        case .data(let data): .object([("base64", .string(data.base64EncodedString()))])
        case .number(let number): .number(number)
        case .date(let seconds): .string(Timestamp.text(seconds))
        }
    }
}

extension AccessControl.Flags {
    var names: [String] {
        let all: [(AccessControl.Flags, String)] = [
            (.userPresence, "user-presence"), (.biometryAny, "biometry-any"),
            (.biometryCurrentSet, "biometry-current-set"), (.devicePasscode, "device-passcode"),
            (.companion, "companion"), (.or, "or"), (.and, "and"), (.privateKeyUsage, "private-key-usage"),
            (.applicationPassword, "application-password"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

/// Moments as ISO 8601 in UTC, with milliseconds.
enum Timestamp {
    static func text(_ seconds: Double, in zone: TimeZone = .gmt) -> String {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: zone)
        return Date(timeIntervalSinceReferenceDate: seconds).formatted(style)
    }

    /// The minute in local time, for tables.
    static func short(_ seconds: Double) -> String {
        String(text(seconds, in: .current).prefix(16)).replacing("T", with: " ")
    }
}
