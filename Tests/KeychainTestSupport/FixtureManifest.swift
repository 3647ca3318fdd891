package import Foundation
package import KeychainModel

/// What must come out of a store in `Tests/Fixtures`, written down when the store was made.
package struct FixtureManifest: Codable, Sendable {
    package struct Item: Codable, Sendable {
        package var itemClass: String
        /// The persistent reference.
        package var reference: Data
        package var accessGroup: String
        package var synchronizable: Bool
        package var protection: String
        package var flags: UInt32
        /// Seconds since 2001-01-01 00:00 UTC.
        package var created: Double
        package var modified: Double
        /// The same; nil: never, and in stores of the first format.
        package var expires: Double?
        /// In the order of their codes.
        package var attributes: [Value]
        /// nil for an item without one.
        package var secret: Data?
    }

    /// An attribute: one of the four is there.
    package struct Value: Codable, Sendable {
        package var code: String
        /// As base64 of its UTF-8 bytes: text that looks alike may be other text.
        package var text: Data?
        package var data: Data?
        package var number: Int64?
        package var date: Double?
    }

    package var passcode: String?
    /// Whether items were left in the log alone, by a process that was killed.
    package var hasLog: Bool
    package var items: [Item]
    /// Items that want a person's consent, which nobody is asked for here: accounts.
    package var constrained: [String]
    /// The keys of files, by their wrapped forms; nil: the store has none.
    package var fileKeys: [String: Data]?

    package init(passcode: String?, hasLog: Bool) {
        self.passcode = passcode
        self.hasLog = hasLog
        items = []
        constrained = []
    }
}

extension FixtureManifest {
    package static let fileName = "manifest.json"

    package init(contentsOf file: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }

    package func write(to file: URL) throws {
        try Self.encoder.encode(self).write(to: file)
    }

    fileprivate static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension FixtureManifest.Item {
    package init(_ item: Item, secret: SecretBytes?) {
        itemClass = item.itemClass.rawValue
        reference = item.persistentReference.data
        accessGroup = item.accessGroup
        synchronizable = item.synchronizable
        protection = item.accessControl.protection.rawValue
        flags = item.accessControl.flags.rawValue
        created = item.created
        modified = item.modified
        expires = item.expires?.seconds
        attributes = item.attributes.entries.map { FixtureManifest.Value($0.attribute, $0.value) }
            .sorted { $0.code < $1.code }
        self.secret = secret?.copyData()
    }

    /// Everything about the item as text: two are equal if these are.
    package var text: String {
        get throws { String(decoding: try FixtureManifest.encoder.encode(self), as: UTF8.self) }
    }
}

extension FixtureManifest.Value {
    fileprivate init(_ attribute: Attribute, _ value: AttributeValue) {
        code = attribute.code
        switch value {
        case .text(let text): self.text = Data(text.utf8)
        case .data(let data): self.data = data
        case .number(let number): self.number = number
        case .date(let date): self.date = date
        }
    }

    /// nil if none is there.
    package var value: AttributeValue? {
        if let text { return .text(String(decoding: text, as: UTF8.self)) }
        return data.map { .data($0) } ?? number.map { .number($0) } ?? date.map { .date($0) }
    }
}
