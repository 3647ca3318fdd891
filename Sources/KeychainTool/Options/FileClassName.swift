internal import ArgumentParser
internal import DataProtection

/// The classes of files by their names on the command line and in JSON.
enum FileClassName: String, CaseIterable, ExpressibleByArgument {
    case complete
    case completeUnlessOpen = "complete-unless-open"
    case completeUntilFirstUserAuthentication = "complete-until-first-user-authentication"
    case always = "none"

    init(_ protection: FileProtection) {
        self =
            switch protection {
            case .complete: .complete
            case .completeUnlessOpen: .completeUnlessOpen
            case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
            case .always: .always
            }
    }

    var protection: FileProtection {
        switch self {
        case .complete: .complete
        case .completeUnlessOpen: .completeUnlessOpen
        case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
        case .always: .always
        }
    }

    static var defaultCompletionKind: CompletionKind { .list(allCases.map(\.rawValue)) }
}
