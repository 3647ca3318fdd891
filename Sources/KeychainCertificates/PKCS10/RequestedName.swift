internal import FoundationEssentials
package import KeychainModel
internal import SwiftASN1

/// The subject that a certificate is requested for, as `openssl req -subj` takes it: `/C=CH/O=Example/CN=host.example`.
package struct RequestedName: Sendable {
    private var parts: [(type: ASN1ObjectIdentifier, value: String)] = []

    /// - Parameter text: Each part begins with a slash. A backslash stands before a slash or a backslash in a value. The text may
    ///   be empty.
    /// - Throws: `.parameter`, which names the wrong part.
    package init(_ text: String) throws(KeychainError) {
        for part in try Self.parts(of: text) {
            guard let sign = part.firstIndex(of: "="), part.index(after: sign) < part.endIndex else {
                throw Self.failure("'\(part)' is no TYPE=VALUE")
            }
            let (name, value) = (String(part[..<sign]), String(part[part.index(after: sign)...]))
            guard let type = Self.types[name.uppercased()] ?? Self.identifier(name) else {
                throw Self.failure(
                    "there is no '\(name)': it takes \(Self.types.keys.sorted().joined(separator: ", ")), and numbers "
                        + "such as 2.5.4.3")
            }
            try Self.check(value, type)
            parts.append((type, value))
        }
    }

    private static func check(_ value: String, _ type: ASN1ObjectIdentifier) throws(KeychainError) {
        if type == .countryName, value.wholeMatch(of: /[A-Za-z]{2}/) == nil {
            throw failure("a country (C) has two letters, such as CH")
        }
        if type == .emailAddress || type == .domainComponent, !value.allSatisfy(\.isASCII) {
            throw failure("a mail address and a part of a domain are ASCII")
        }
    }

    private static func parts(of text: String) throws(KeychainError) -> [String] {
        guard text.isEmpty || text.hasPrefix("/") else { throw failure("it begins with a slash") }
        var (parts, isEscaped) = ([String](), false)
        for character in text {
            if isEscaped {
                parts[parts.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "/" {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        guard !isEscaped else { throw failure("it ends in a backslash") }
        return parts
    }

    private static func identifier(_ name: String) -> ASN1ObjectIdentifier? {
        guard name.wholeMatch(of: /[0-2](\.[0-9]{1,9})+/) != nil else { return nil }
        return try? ASN1ObjectIdentifier(dotRepresentation: Substring(name))
    }

    private static func failure(_ reason: String) -> KeychainError {
        KeychainError(.parameter, message: "the subject is no /C=CH/O=Example/CN=host.example: \(reason)")
    }

    func append(to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { serializer in
            for (type, value) in parts {
                try serializer.appendConstructedNode(identifier: .set) { serializer in
                    try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                        try serializer.serialize(type)
                        serializer.appendPrimitiveNode(identifier: Self.kind(of: type)) { $0 += value.utf8 }
                    }
                }
            }
        }
    }

    private static func kind(of type: ASN1ObjectIdentifier) -> ASN1Identifier {
        switch type {
        case .countryName: .printableString
        case .emailAddress, .domainComponent: .ia5String
        default: .utf8String
        }
    }

    private static let types: [String: ASN1ObjectIdentifier] = [
        "C": .countryName, "ST": [2, 5, 4, 8], "L": [2, 5, 4, 7], "O": .organization, "OU": .organizationalUnit,
        "CN": .commonName, "STREET": [2, 5, 4, 9], "SERIALNUMBER": [2, 5, 4, 5], "TITLE": [2, 5, 4, 12],
        "GN": [2, 5, 4, 42], "SN": [2, 5, 4, 4], "DC": .domainComponent, "UID": [0, 9, 2342, 19_200_300, 100, 1, 1],
        "EMAILADDRESS": .emailAddress,
    ]
}

extension ASN1ObjectIdentifier {
    fileprivate static let countryName: Self = [2, 5, 4, 6]
    fileprivate static let domainComponent: Self = [0, 9, 2342, 19_200_300, 100, 1, 25]
}
