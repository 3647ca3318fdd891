/// The set-up of SwiftPM, which asks no helper on Linux.
enum SwiftPMSetup: ToolSetup {
    static let summary = "nothing to set up: how to keep a registry's token out of ~/.netrc"

    static func plan(_ surroundings: SetupSurroundings) -> SetupPlan {
        SetupPlan(
            notes: [
                "SwiftPM starts no helper on Linux, and reads a netrc: keychainctl run --netrc -- sh -c 'swift build "
                    + "--netrc-file \"$NETRC\"' gives it one in memory, with your internet passwords (docs/helpers.md)"
            ], isPossible: false)
    }
}
