internal import KeychainModel

/// The words of a dialog, on every screen.
///
/// The first line is always ours: a dialog that guesses from the first line whether a text is rich (as Qt's do) finds
/// no markup there. The asking program comes next, and its own words come last.
struct PromptWords {
    let heading: String
    let program: String
    let reason: String
    /// The text in front of the place of the answer.
    var field = ""
    /// In front of the second one, where it is typed twice.
    var repeatedField: String?
    var complaint: String?
    /// The next step for the person, besides typing.
    var hint: String?
    var fallbackTitle: String?
    let cancelTitle: String

    private static let programLimit = 240
    private static let reasonLimit = 440
    private static let shortLimit = 120
    private static let titleLimit = 40

    static let mismatch = "The two were not the same."

    init(_ question: PromptQuestion, isASCII: Bool = false) {
        let make = { (text: String, limit: Int) in HarmlessText.make(text, limit: limit, isASCII: isASCII) }
        switch question.wanted {
        case .passcode:
            heading = "The passcode of your keychain is needed."
            field = "Passcode:"
        case .applicationPassword:
            heading = "The password of an item in your keychain is needed."
            field = "Password:"
        case .newApplicationPassword:
            heading = "A new password for an item in your keychain is to be chosen."
            field = "New password:"
            repeatedField = "The same again:"
        }
        program = Self.program(question.program, isASCII)
        reason = Self.reason(question.reason, isASCII)
        complaint = question.complaint.map { make($0, Self.shortLimit) }
        cancelTitle = make(question.cancelTitle ?? "Cancel", Self.titleLimit)
    }

    init(_ notice: PromptNotice, isASCII: Bool = false) {
        let make = { (text: String, limit: Int) in HarmlessText.make(text, limit: limit, isASCII: isASCII) }
        heading = "An item in your keychain is asked for."
        program = Self.program(notice.program, isASCII)
        reason = Self.reason(notice.reason, isASCII)
        hint = make(notice.hint, Self.shortLimit)
        fallbackTitle = notice.fallbackTitle.map { make($0, Self.titleLimit) }
        cancelTitle = make(notice.cancelTitle ?? "Cancel", Self.titleLimit)
    }

    /// Line by line.
    var description: [String] { [heading, program, reason] + (hint.map { ["To go on: \($0)."] } ?? []) }

    private static func program(_ name: String, _ isASCII: Bool) -> String {
        // Its name is at the beginning and the name of its file at the end: neither may be pushed out.
        "Program: " + HarmlessText.make(name, limit: programLimit, cut: .middle, isASCII: isASCII)
    }

    private static func reason(_ reason: String?, _ isASCII: Bool) -> String {
        guard let reason, !reason.isEmpty else { return "It gives no reason." }
        return "Its reason: \"" + HarmlessText.make(reason, limit: reasonLimit, isASCII: isASCII) + "\""
    }
}
