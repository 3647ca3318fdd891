internal import FoundationEssentials
internal import KeychainModel

extension [Item] {
    /// The items in an order for people: class, group, service or server, account.
    var sortedForPeople: [Item] { sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) } }
}

extension Item {
    fileprivate var sortKey: [String] {
        func text(_ attribute: Attribute) -> String {
            switch attributes[attribute] {
            case .text(let text): text
            default: ""
            }
        }
        return [
            String(itemClass.number), accessGroup, text(.service) + text(.server), text(.account),
            identifier.uuidString,
        ]
    }
}
