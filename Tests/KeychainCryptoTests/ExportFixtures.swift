import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto
@testable import KeychainTransfer

/// The bytes of an export of these items.
func exported(_ items: [Item], _ key: ExportKey, leftOut: LeftOut = LeftOut()) throws -> Data {
    var file = Data()
    let writer = try ExportWriter(key) { file.append(contentsOf: $0) }
    for item in items { try writer.append(item) }
    try writer.finish(leftOut: leftOut)
    return file
}

/// What an export holds.
struct ExportContent {
    var items: [Item] = []
    var unreadable = 0
    var summary: ExportSummary
}

func imported(_ file: Data, passphrase: String = exportPassphrase) throws(KeychainError) -> ExportContent {
    let key = try ExportKey(
        opening: file.prefix(ExportKey.headerByteCount), passphrase: SecretBytes(copying: Data(passphrase.utf8)))
    return try imported(file, key)
}

func imported(_ file: Data, _ key: ExportKey) throws(KeychainError) -> ExportContent {
    var rest = file.dropFirst(ExportKey.headerByteCount)
    let reader = try ExportReader(key, byteCount: rest.count) { target throws(KeychainError) in
        guard rest.count >= target.count else { throw KeychainError(.inputOutput, message: "there is no more") }
        target.copyBytes(from: rest.prefix(target.count))
        rest = rest.dropFirst(target.count)
    }
    var content = ExportContent(summary: ExportSummary(items: -1, leftOut: LeftOut()))
    while let record = try reader.next() {
        switch record {
        case .item(let item): content.items.append(item)
        case .unreadable: content.unreadable += 1
        case .end(let summary): content.summary = summary
        }
    }
    return content
}

let exportPassphrase = "open sesame"

extension ExportKey {
    static func fixture(_ passphrase: String = exportPassphrase) throws -> ExportKey {
        try ExportKey(new: SecretBytes(copying: Data(passphrase.utf8)), cost: 1)
    }
}

extension Item {
    static func fixture(_ account: AttributeValue = .text("a"), secret: Data? = Data("secret".utf8)) -> Item {
        Item(
            itemClass: .genericPassword, identifier: UUID(),
            attributes: [.account: account, .service: .text("s")], accessGroup: "G", synchronizable: false,
            accessControl: AccessControl(.whenUnlocked), created: 1, modified: 2,
            secret: secret.map { SecretBytes(copying: $0) })
    }

    /// Everything of an item, to be compared.
    var described: [String] {
        let values = attributes.entries.map { "\($0.attribute.code) \($0.value)" }.sorted()
        return [
            itemClass.rawValue, identifier.uuidString, accessGroup, "\(synchronizable)",
            "\(accessControl.canonicalBytes)", "\(created)", "\(modified)",
            secret.map { $0.copyData().base64EncodedString() } ?? "none",
        ] + values
    }
}
