internal import ArgumentParser
internal import KeychainModel

/// The time for which a keychain may go unused: a number with s, m, h or d, or "never".
struct IdleLimit: ExpressibleByArgument, Equatable {
    /// The keybag has four bytes for the seconds.
    private static let range = 1...Int(UInt32.max)

    /// nil: for ever.
    let seconds: Int?

    init?(argument: String) {
        if argument == "never" {
            seconds = nil
            return
        }
        guard let length = DurationText.seconds(argument), Self.range.contains(length) else { return nil }
        seconds = length
    }

    static var defaultCompletionKind: CompletionKind { .list(["5m", "10m", "1h", "never"]) }
}

enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off
}
