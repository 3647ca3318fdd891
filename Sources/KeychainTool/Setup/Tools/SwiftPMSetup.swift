/// SwiftPM asks no helper on Linux.
enum SwiftPMSetup: ToolSetup {
    static let name = "swiftpm"
    static let summary = "nothing to set up: how to keep a registry's token out of ~/.netrc"

    static func plan(_ surroundings: SetupSurroundings) -> SetupPlan {
        SetupPlan(
            notes: [
                "SwiftPM starts no helper on Linux. It reads ~/.netrc, or the regular file that --netrc-file names: write "
                    + "that from the keychain into $XDG_RUNTIME_DIR, which is in memory, and remove it after the build "
                    + "(docs/helpers.md shows the lines)"
            ], isPossible: false)
    }
}
