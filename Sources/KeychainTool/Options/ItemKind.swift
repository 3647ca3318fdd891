internal import ArgumentParser
internal import KeychainModel

/// The item classes by the names they have on the command line and in JSON.
enum ItemKind: String, CaseIterable {
    case generic, `internet`, certificate, key, identity

    static let names = allCases.map(\.rawValue)

    /// - Throws: what the two likely mistakes are: the name of an item, and the value of an option that there is not.
    init(named name: String) throws {
        guard let kind = ItemKind(rawValue: name) else {
            throw ValidationError(
                "It is none of \(Self.names.joined(separator: ", ")), and no value of an option of this command. "
                    + "Options such as --service and --account name an item.")
        }
        self = kind
    }

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
    /// "one key", "3 keys": for messages and counts.
    func counted(_ count: Int) -> String {
        if count == 1 { return "1 \(title)" }
        return self == .identity ? "\(count) identities" : "\(count) \(title)s"
    }
}
