internal import ArgumentParser
internal import KeychainModel

extension InternetProtocol: ExpressibleByArgument {
    init?(argument: String) { self.init(name: argument) }

    static var allValueStrings: [String] { allCases.map(\.name) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// The name on the command line, or the code itself if Apple's keychain has no such protocol.
    static func name(ofCode code: String) -> String { InternetProtocol(rawValue: code)?.name ?? code }
}
