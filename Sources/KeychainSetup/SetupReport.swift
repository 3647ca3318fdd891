/// The state of one tool, or what was done for it.
package struct SetupReport {
    package enum State: String {
        case absent = "not set up"
        case impossible = "nothing to set up"
        case present = "set up"
        case done = "changed"
        case planned = "would be changed"
        case partlyDone = "changed in part"
        case takenBack = "taken back"
        case partlyTakenBack = "taken back in part"
        case plannedBack = "would be taken back"
    }

    package var tool: String
    package var state: State
    package var changes: [SetupChange] = []
    package var notes: [String] = []
    /// Whether the tool asks the keychain when the setting is there.
    package var isEffective = true
    /// The error that has ended the work after a part of it. It is told apart from the report.
    package var failure: (any Error)?

    /// Whether the tool finds its secrets in the keychain now.
    package var isSetUp: Bool { [.present, .done, .partlyTakenBack, .plannedBack].contains(state) && isEffective }
}
