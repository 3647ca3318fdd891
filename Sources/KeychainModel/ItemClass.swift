/// The kinds of item a keychain holds.
///
/// Raw values are Apple's published short strings.
package enum ItemClass: String, Sendable, CaseIterable, Hashable {
    case genericPassword = "genp"
    case internetPassword = "inet"
    case certificate = "cert"
    case key = "keys"
    /// A certificate joined with the private key it belongs to. No row of its own is ever stored.
    case identity = "idnt"

    /// The classes that have rows.
    package static let stored: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]

    /// The number that stands for the class in stored bytes. A number is never used again.
    package var number: UInt8 {
        switch self {
        case .genericPassword: 1
        case .internetPassword: 2
        case .certificate: 3
        case .key: 4
        case .identity: 5
        }
    }

    package init?(number: UInt8) {
        guard let match = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = match
    }

    /// The name on the command line and in its output.
    package var name: String {
        switch self {
        case .genericPassword: "generic"
        case .internetPassword: "internet"
        case .certificate, .key, .identity: title
        }
    }

    /// The class in words, for messages.
    package var title: String {
        switch self {
        case .genericPassword: "generic password"
        case .internetPassword: "internet password"
        case .certificate: "certificate"
        case .key: "key"
        case .identity: "identity"
        }
    }
}
