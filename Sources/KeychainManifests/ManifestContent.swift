internal import FoundationEssentials
internal import KeychainEntitlements

/// The entries of a manifest. Faults are collected, so that a faulty one still tells which program it is for.
struct ManifestContent: Decodable {
    /// More than a manifest of a thousand groups has.
    static let mostBytes = 64 << 10
    /// The decoder takes a part of the stack for each list in a list. A manifest has one dictionary and at most five lists.
    private static let mostOpenings = 64

    let identity: Identity?
    let groups: [String]
    let flaw: String?

    /// - Throws: The flaw of bytes that tell nothing.
    init(_ bytes: [UInt8], _ path: String) throws(ManifestFlaw) {
        guard bytes.count <= Self.mostBytes else {
            throw ManifestFlaw(path: path, text: "is larger than \(Self.mostBytes >> 10) KiB")
        }
        guard Self.openings(in: bytes) <= Self.mostOpenings else {
            throw ManifestFlaw(path: path, text: "has more than \(Self.mostOpenings) lists")
        }
        do {
            self = try PropertyListDecoder().decode(ManifestContent.self, from: Data(bytes))
        } catch {
            throw ManifestFlaw(path: path, text: "is no property list with a dictionary\(Self.reason(for: error))")
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        let kinds = Identity.Kind.allCases.filter { container.contains(AnyKey(stringValue: $0.rawValue)) }
        let name = kinds.first.flatMap { try? container.decode(String.self, forKey: AnyKey(stringValue: $0.rawValue)) }
        var flaws: [String] = []
        if kinds.count == 1, let name, !name.isEmpty {
            identity = Identity(kind: kinds[0], name: name)
        } else {
            identity = nil
            let keys = Identity.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            flaws.append(
                kinds.count == 1
                    ? "\(kinds[0].rawValue) is not a name" : "has \(kinds.count) of the keys \(keys), and needs one")
        }
        flaws += container.allKeys.map(\.stringValue).sorted()
            .filter { Identity.Kind(rawValue: $0) == nil && AccessGroupKey(rawValue: $0) == nil }
            .map { "has the key \($0), which is unknown" }
        do {
            groups = try AccessGroupEntries(from: decoder).inOrder
        } catch let flaw as EntitlementFlaw {
            groups = []
            flaws.append(flaw.description)
        }
        flaw = flaws.first
    }

    /// The places in a text where a list or a dictionary may begin. A binary list is decoded without recursion.
    private static func openings(in bytes: [UInt8]) -> Int {
        if bytes.starts(with: "bplist".utf8) { return 0 }
        let next = zip(bytes, bytes.dropFirst())
        return bytes.count { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "{") }
            + next.count { $0 == UInt8(ascii: "<") && ($1 == UInt8(ascii: "a") || $1 == UInt8(ascii: "d")) }
    }

    private static func reason(for error: any Error) -> String {
        guard case .dataCorrupted(let context)? = error as? DecodingError,
            let cause = context.underlyingError as? CocoaError,
            let text = cause.userInfo["NSDebugDescription"] as? String
        else { return "" }
        return ": \(text)"
    }
}

/// Any key, so that unknown ones are seen.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
