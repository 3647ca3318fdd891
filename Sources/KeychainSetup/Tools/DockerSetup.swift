internal import FoundationEssentials
internal import KeychainSystem

package enum DockerSetup: ToolSetup {
    static let summary = "credsStore in docker's config.json"

    private static let key = "credsStore"
    private static let value = #""keychain""#

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        try surroundings.requireInSearchPath("docker-credential-keychain")
        let directory = try surroundings.variable("DOCKER_CONFIG") ?? surroundings.home(".docker")
        let file = try SetupFile(FilePath.join(directory, "config.json"))
        let text = try file.text
        var plan = SetupPlan()
        let member = try member(text, file.path)
        plan.change(file, member.map { .member($0) })
        if let former = member?.replaced, former.hasPrefix("\""), former != "\"\"" {
            plan.notes.append("docker used the helper \(former) so far: log in again, or move what is there")
        }
        let registries = plainRegistries(text)
        if !registries.isEmpty {
            plan.notes.append(
                "\(file.path) has passwords in plain text, for \(registries.joined(separator: ", ")): 'docker logout' and "
                    + "'docker login' move each of them")
        }
        return plan
    }

    /// nil: the member is there.
    package static func member(_ text: String, _ path: String) throws -> JSONMember? {
        if text.allSatisfy(\.isWhitespace) {
            return JSONMember(key: key, value: value, replaced: nil, makesObject: true)
        }
        guard let object = JSONText(text), !object.isAmbiguous(key) else {
            throw SetupFailure(
                message: "\(path) is not a JSON object with \(key) once at most: mend it, and put "
                    + "\"\(key)\": \(value) into it")
        }
        let former = object.value(of: key)
        return former == value ? nil : JSONMember(key: key, value: value, replaced: former, makesObject: false)
    }

    private static func plainRegistries(_ text: String) -> [String] {
        // A registry of another form is none of these, and the others count all the same.
        struct Registry: Decodable {
            enum Key: CodingKey { case auth, identitytoken }
            let isPlain: Bool

            init(from decoder: any Decoder) {
                let members = try? decoder.container(keyedBy: Key.self)
                isPlain = members.map { $0.contains(.auth) || $0.contains(.identitytoken) } ?? false
            }
        }
        struct Configuration: Decodable { let auths: [String: Registry] }
        let configuration = try? JSONDecoder().decode(Configuration.self, from: Data(text.utf8))
        return (configuration?.auths ?? [:]).filter { $0.value.isPlain }.keys.sorted()
    }
}
