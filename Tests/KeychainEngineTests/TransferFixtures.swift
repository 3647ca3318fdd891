import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport

extension Engine {
    /// Everything that an export would hold.
    func exportAll(group: String? = nil) throws(KeychainError) -> (items: [Item], leftOut: LeftOut, parts: Int) {
        var request = ExportRequest(accessGroup: group)
        var items: [Item] = []
        var leftOut = LeftOut()
        var parts = 0
        while true {
            guard case .exported(let part) = try handle(.exportItems(request), from: .owner) else {
                throw KeychainError(.internalFailure, message: "another reply")
            }
            items += part.items
            leftOut += part.leftOut
            parts += 1
            guard let next = part.next else { return (items, leftOut, parts) }
            request.start = next
        }
    }

    func merge(_ items: [Item], isDryRun: Bool = false) throws(KeychainError) -> [ImportOutcome] {
        guard
            case .imported(let outcomes) = try handle(
                .importItems(ImportRequest(items, isDryRun: isDryRun)), from: .owner)
        else { throw KeychainError(.internalFailure, message: "another reply") }
        return outcomes
    }
}

extension Item {
    /// Everything of an item, to be compared.
    var described: [String] {
        let values = attributes.entries.map { "\($0.attribute.code) \($0.value)" }.sorted()
        return [
            itemClass.rawValue, identifier.uuidString, accessGroup, "\(synchronizable)",
            "\(accessControl.canonicalBytes)", "\(created)", "\(modified)",
            secret.map { $0.copyData().base64EncodedString() } ?? "none",
        ] + values
    }

    /// The same with other values.
    func with(_ change: (inout Item) throws -> Void) rethrows -> Item {
        var item = self
        try change(&item)
        return item
    }

    static func password(
        _ account: String, secret: String = "secret", modified: Double = 1000, protection: Protection = .whenUnlocked
    ) -> Item {
        Item(
            itemClass: .genericPassword, identifier: UUID(),
            attributes: [.account: .text(account), .service: .text("service")], accessGroup: "G",
            synchronizable: false, accessControl: AccessControl(protection), created: 500, modified: modified,
            secret: .of(secret))
    }
}

extension [Item] {
    var described: Set<[String]> { Set(map(\.described)) }
}
