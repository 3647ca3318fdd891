internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import KeychainWire

/// One entry of an export's content.
package enum ExportRecord: Sendable {
    case item(Item)
    /// An entry that is whole and no item of this version.
    case unreadable
    case end(ExportSummary)
}

/// The summary at the end of an export.
package struct ExportSummary: Sendable, Equatable {
    package var items: Int
    package var leftOut: LeftOut

    package init(items: Int, leftOut: LeftOut) {
        self.items = items
        self.leftOut = leftOut
    }
}

extension ExportRecord {
    enum Kind: UInt8 { case item = 1, end = 2 }  // the first is ``ExportedItem/kind``

    static let endByteCount = 41

    static func endBytes(_ summary: ExportSummary) -> Data {
        let leftOut = summary.leftOut
        var bytes = Data([Kind.end.rawValue])
        for count in [
            summary.items, leftOut.thisDeviceOnly, leftOut.constrained, leftOut.ofTokens, leftOut.unreadable,
        ] { bytes.append(bigEndian: UInt64(count)) }
        return bytes
    }
}

/// The head of an item's entry, as it was read.
struct ExportRecordHead {
    let metadataCount: Int
    let secretCount: Int
    private let classNumber: UInt8
    private let access: Data
    private let identifier: UUID
    private let secretMark: UInt8

    /// nil unless there are ``ExportedItem/headByteCount`` bytes.
    init?(_ bytes: Data) {
        var reader = ByteReader(bytes.dropFirst())
        guard let classNumber = reader.integer(UInt8.self), let access = reader.take(5),
            let identifier = reader.identifier(), let secretMark = reader.integer(UInt8.self),
            let metadataCount = reader.integer(UInt32.self), let secretCount = reader.integer(UInt32.self)
        else { return nil }
        self.classNumber = classNumber
        self.access = access
        self.identifier = identifier
        self.secretMark = secretMark
        self.metadataCount = Int(metadataCount)
        self.secretCount = Int(secretCount)
    }

    /// nil if these bytes stand for no item.
    func item(metadata: UnsafeRawBufferPointer, secret: SecretBytes) -> Item? {
        guard let itemClass = ItemClass(number: classNumber), secretMark == 1 || secretMark == 0 && secretCount == 0,
            let accessControl = readable({ () throws(KeychainError) in try AccessControl(canonicalBytes: access) }),
            let decoded = readable({ () throws(KeychainError) in
                try Item.decode(metadata: metadata, of: itemClass, identifier, accessControl)
            }),
            decoded.secretTag == nil
        else { return nil }
        var item = decoded.item
        if secretMark == 1 { item.secret = secret }
        return item
    }

    /// nil for bytes that are not readable, which is all that these decoders fail with.
    private func readable<T>(_ decode: () throws(KeychainError) -> T) -> T? {
        do throws(KeychainError) { return try decode() } catch { return nil }
    }
}
