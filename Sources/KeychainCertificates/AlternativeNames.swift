internal import SwiftASN1

/// A name of one of the kinds that certificates have besides distinguished ones (RFC 5280, section 4.2.1.6).
enum AlternativeName: Sendable {
    case emailAddress(String)
    case host(String)
    case directory(DistinguishedName)
    case uri(String)
    /// Four or sixteen bytes; in a constraint twice as many, since a mask follows.
    case address([UInt8])
    /// The number of the kind. A name of a known kind that cannot be compared is among them: beyond ASCII, too long for its kind, a mail
    /// address without an at sign, a name of a directory that is not whole.
    case other(UInt)

    /// - Throws: for a directory name that is malformed.
    init(_ node: ASN1Node) throws {
        guard node.identifier.tagClass == .contextSpecific else {
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
        switch (node.identifier.tagNumber, node.content) {
        case (1, .primitive(let bytes)): self = Self.text(bytes).map(Self.emailAddress) ?? .other(1)
        case (2, .primitive(let bytes)): self = Self.text(bytes, most: 255).map(Self.host) ?? .other(2)
        case (4, .constructed(let nodes)):
            var iterator = nodes.makeIterator()
            let name = try DistinguishedName(derEncoded: &iterator)
            self = name.isWhole ? .directory(name) : .other(4)
        case (6, .primitive(let bytes)): self = Self.text(bytes).map(Self.uri) ?? .other(6)
        case (7, .primitive(let bytes)): self = .address(Array(bytes))
        default: self = .other(node.identifier.tagNumber)
        }
    }

    /// A mail address of a subject's distinguished name.
    init(address text: String?) {
        let bytes = text.map { ArraySlice($0.utf8) } ?? [0x80]
        self = Self.text(bytes).map(Self.emailAddress) ?? .other(1)
    }

    /// nil for bytes beyond ASCII, and for more than there may be.
    private static func text(_ bytes: ArraySlice<UInt8>, most: Int = 4096) -> String? {
        bytes.count <= most && bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Kinds whose names are compared with constraints.
    static let comparedKinds: Set<UInt> = [1, 2, 4, 6, 7]

    /// Names are compared with constraints of the same kind.
    var kind: UInt {
        switch self {
        case .emailAddress: 1
        case .host: 2
        case .directory: 4
        case .uri: 6
        case .address: 7
        case .other(let number): number
        }
    }
}

/// The names of a subject besides its distinguished one.
struct AlternativeNames: DERParseable, Sendable {
    let names: [AlternativeName]

    init(derEncoded root: ASN1Node) throws {
        guard root.identifier == .sequence, case .constructed(let nodes) = root.content else {
            throw ASN1Error.unexpectedFieldType(root.identifier)
        }
        names = try nodes.map(AlternativeName.init)
    }

    var emailAddresses: [String] {
        names.compactMap { if case .emailAddress(let address) = $0 { address } else { nil } }
    }

    var hosts: [String] { names.compactMap { if case .host(let host) = $0 { host } else { nil } } }

    var addresses: [[UInt8]] { names.compactMap { if case .address(let bytes) = $0 { bytes } else { nil } } }
}
