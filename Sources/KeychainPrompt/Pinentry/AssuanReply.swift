/// How a program answered a command, besides the data it sent.
enum AssuanReply {
    /// The program carried the command out. These are its words about its state meanwhile ("S" lines).
    case done(status: Set<String>)
    /// The program refused: gpg-error's number, and its own words.
    case refused(AssuanCode, String)
}

/// A number of gpg-error. Its upper half names the program that it comes from.
struct AssuanCode: Equatable {
    let value: UInt32

    init(_ number: UInt32) { value = number & 0xffff }

    /// The person declined: CANCELED, FULLY_CANCELED, NOT_CONFIRMED.
    var isDecline: Bool { [99, 198, 114].contains(value) }

    /// TIMEOUT.
    var isTimeout: Bool { value == 62 }

    /// Nothing could be shown: a number of the system's (a terminal that cannot be opened), or NOT_SUPPORTED,
    /// NOT_IMPLEMENTED, NO_PIN_ENTRY, LOCALE_PROBLEM, WINDOW_TOO_SMALL, WINDOW_TOO_LARGE, MISSING_ENVVAR.
    var tellsOfNoDisplay: Bool { value & 0x8000 != 0 || [60, 69, 85, 166, 301, 302, 303].contains(value) }
}
