internal import KeychainSystem

/// Text that stands for a secret: `keychain://CLASS/PLACE/ACCOUNT[?NAME=VALUE&…][#FIELD]` (docs/cli.md, "References").
package struct ItemReference: Hashable, Sendable {
    package enum Kind: String, Sendable { case generic, internet }

    package let kind: Kind
    /// The service of a generic password, the server of an internet password.
    package let place: String
    package let account: String
    package private(set) var group: String?
    /// The name of the protocol on the command line.
    package private(set) var internetProtocol: String?
    package private(set) var port: UInt16?
    package private(set) var path: String?
    package private(set) var field: SecretField?

    private static let start = "keychain://"

    package struct Flaw: Error, Equatable {
        package let message: String
    }

    /// Whether a value is a reference, valid or not.
    package static func isMeant(by value: some StringProtocol) -> Bool { value.utf8.starts(with: start.utf8) }

    package init(_ text: String) throws(Flaw) {
        guard Self.isMeant(by: text) else { throw Flaw(message: "a reference begins with \(Self.start)") }
        let (rest, fragment) = Self.split(text.utf8.dropFirst(Self.start.utf8.count), at: "#")
        let (address, options) = Self.split(rest, at: "?")
        let parts = address.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let kind = parts.first.flatMap { Kind(rawValue: String(decoding: $0, as: UTF8.self)) }
        guard let kind, parts.count == 3 else {
            throw Flaw(
                message: "a reference is keychain://generic/SERVICE/ACCOUNT or keychain://internet/SERVER/ACCOUNT, "
                    + "with every / in a name as %2F")
        }
        self.kind = kind
        place = try Self.decode(parts[1])
        account = try Self.decode(parts[2])
        guard !place.isEmpty else {
            throw Flaw(message: "the \(kind == .generic ? "service" : "server") of the reference is empty")
        }
        if let options {
            for option in options.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
                try set(option)
            }
        }
        if let fragment { field = try SecretField(try Self.decode(fragment)) }
    }

    private mutating func set(_ option: Slice) throws(Flaw) {
        let (name, text) = Self.split(option, at: "=")
        guard let value = try text.map({ (text) throws(Flaw) in try Self.decode(text) }) else {
            throw Flaw(message: "behind the ? of a reference stands NAME=VALUE")
        }
        switch (String(decoding: name, as: UTF8.self), kind) {
        case ("group", _) where group == nil: group = value
        case ("protocol", .internet) where internetProtocol == nil: internetProtocol = value
        case ("path", .internet) where path == nil: path = value
        case ("port", .internet) where port == nil:
            guard let number = UInt16(value) else { throw Flaw(message: "the port of the reference is no port") }
            port = number
        default:
            let names = kind == .generic ? "group" : "group, protocol, port and path"
            throw Flaw(message: "behind the ? of such a reference may stand \(names), each once")
        }
    }

    // MARK: Percent encoding

    private typealias Slice = Substring.UTF8View

    private static func split(_ text: Slice, at mark: Unicode.Scalar) -> (before: Slice, after: Slice?) {
        guard let place = text.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<place], text[place...].dropFirst())
    }

    private static func decode(_ text: Slice) throws(Flaw) -> String {
        guard !text.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw Flaw(message: "a control character in a reference is written as %XX")
        }
        guard let decoded = PercentEncoding.decode(text) else {
            throw Flaw(message: "in a reference a % is written as %25, and what %XX stand for is UTF-8 text")
        }
        return decoded
    }
}
