internal import ArgumentParser
internal import DataProtectionCore
internal import KeychainModel

/// An enumeration whose names are words on the command line and in JSON.
protocol Named: CaseIterable, RawRepresentable<String>, ExpressibleByArgument, JSONConvertible {
    var name: String { get }
}

extension Named {
    init?(argument: String) {
        guard let known = Self.allCases.first(where: { $0.name == argument }) else { return nil }
        self = known
    }

    static var allValueStrings: [String] { allCases.map(\.name) }
    /// Without descriptions, the help has the names in a list.
    static var allValueDescriptions: [String: String] { [:] }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
    var defaultValueDescription: String { name }
    var json: JSONValue { name.json }
}

extension FileProtection: Named {}
extension InternetProtocol: Named {}
extension ItemClass: Named {}
extension Protection: Named {}

extension ItemClass {
    /// A count for messages: "1 key", "3 keys".
    func counted(_ count: Int) -> String {
        if count == 1 { return "1 \(title)" }
        return self == .identity ? "\(count) identities" : "\(count) \(title)s"
    }
}

extension InternetProtocol {
    /// The name on the command line, or the code itself if Apple's keychain has no such protocol.
    static func name(ofCode code: String) -> String { InternetProtocol(rawValue: code)?.name ?? code }
}

extension ItemQuery.Synchronizable: ExpressibleByArgument {}

/// The conditions that an item can set for its reading.
extension AccessControl.Flags: ExpressibleByArgument {
    private static let requirements: AccessControl.Flags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .applicationPassword,
    ]

    init?(argument: String) {
        guard let flag = Self(name: argument), Self.requirements.contains(flag) else { return nil }
        self = flag
    }

    static var allValueStrings: [String] { requirements.names }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
