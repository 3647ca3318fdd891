internal import ArgumentParser
internal import KeychainModel

extension InternetProtocol: ExpressibleByArgument {
    init?(argument: String) { self.init(name: argument) }

    static var allValueStrings: [String] { allCases.map(\.name) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// As it is given on the command line, or the code itself if it is no protocol that Apple's keychain has a name for.
    static func name(ofCode code: String) -> String { InternetProtocol(rawValue: code)?.name ?? code }
}
