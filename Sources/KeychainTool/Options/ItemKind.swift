internal import KeychainModel

/// The item classes by their names on the command line and in JSON.
enum ItemKind: String, CaseIterable {
    case generic, `internet`, certificate, key, identity

    static let names = allCases.map(\.rawValue)

    init(_ itemClass: ItemClass) {
        self =
            switch itemClass {
            case .genericPassword: .generic
            case .internetPassword: .internet
            case .certificate: .certificate
            case .key: .key
            case .identity: .identity
            }
    }

    var itemClass: ItemClass {
        switch self {
        case .generic: .genericPassword
        case .internet: .internetPassword
        case .certificate: .certificate
        case .key: .key
        case .identity: .identity
        }
    }
}

extension ItemClass {
    /// A count for messages: "1 key", "3 keys".
    func counted(_ count: Int) -> String {
        if count == 1 { return "1 \(title)" }
        return self == .identity ? "\(count) identities" : "\(count) \(title)s"
    }
}
