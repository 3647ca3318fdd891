/// The set-up of podman, buildah and skopeo: a file of its own, which leaves their other configuration as it is.
enum PodmanSetup: ToolSetup {
    static let summary = "credential-helpers in registries.conf.d, for podman, buildah and skopeo"

    private static let key = "credential-helpers"
    private static let line = #"\#(key) = ["keychain", "containers-auth.json"]"#

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        try surroundings.requireInSearchPath("docker-credential-keychain")
        // These tools look below the home directory, even if XDG_CONFIG_HOME names another place.
        let file = try SetupFile(try surroundings.home(".config/containers/registries.conf.d/50-keychain.conf"))
        let text = try file.text
        var plan = SetupPlan()
        let lines = ConfigurationLines(text)
        if lines.lines.contains(where: { $0.trimmed == line }) { return plan }
        guard text.isEmpty else {
            throw SetupFailure(message: "\(file.path) is there already: put this line into it: \(line)")
        }
        plan.change(
            file, .line(ConfigurationSetting(line, key: key, mark: "keychain", in: "", of: lines, replacing: nil)))
        return plan
    }
}
