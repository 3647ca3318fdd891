internal import Foundation
internal import KeychainModel

/// The items both programs store: names and sizes as in Benchmarks/Floor/floor.c.
struct SampleItem {
    static let accessGroup = "benchmark"
    static let caller = Caller(groups: [accessGroup])
    static let perService = 1000
    static let secretCount = 40

    let account: String
    let service: String
    var label: String { "Label of \(account)" }

    /// One of the items a store of `total` is filled with.
    static func stored(_ number: Int, of total: Int) -> SampleItem {
        SampleItem(kind: "account", number: number, service: number % serviceCount(total))
    }

    /// An item that is added while adding is measured.
    static func added(_ number: Int) -> SampleItem { SampleItem(kind: "added", number: number, service: 0) }

    private init(kind: String, number: Int, service: Int) {
        account = "\(kind)-\(Self.padded(number, to: 7))"
        self.service = "\(kind).service-\(Self.padded(service, to: 4))"
    }

    private static func serviceCount(_ total: Int) -> Int { max(1, total / perService) }

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension SampleItem {
    var addRequest: Request {
        var request = AddRequest(.genericPassword)
        request.attributes[.account] = .text(account)
        request.attributes[.service] = .text(service)
        request.attributes[.label] = .text(label)
        request.accessGroup = Self.accessGroup
        request.secret = SecretBytes(copying: Data(repeating: UInt8(ascii: "s"), count: Self.secretCount))
        return .add(request)
    }

    /// Finds this item, with its secret.
    var findRequest: Request { .find(FindRequest(thisItem, wantsSecrets: true)) }

    /// Gives it another label.
    var updateRequest: Request {
        var changes = ItemChanges()
        changes.attributes[.label] = .text("Another l" + label.dropFirst())
        return .update(UpdateRequest(thisItem, changes: changes))
    }

    var deleteRequest: Request { .delete(thisItem) }

    /// Finds every item of this one's service, with their secrets.
    var findServiceRequest: Request { .find(FindRequest(everyItemOfService, wantsSecrets: true)) }

    var deleteServiceRequest: Request { .delete(everyItemOfService) }

    private var thisItem: ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes[.account] = .text(account)
        query.attributes[.service] = .text(service)
        return query
    }

    private var everyItemOfService: ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes[.service] = .text(service)
        query.limit = .all
        return query
    }
}
