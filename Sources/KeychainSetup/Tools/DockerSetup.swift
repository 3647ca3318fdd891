internal import Foundation
internal import KeychainSystem

enum DockerSetup: ToolSetup {
    static let summary = "credsStore in docker's config.json"

    private static let key = "credsStore"
    private static let value = #""keychain""#

    static func plan(_ surroundings: SetupSurroundings) throws -> SetupPlan {
        try surroundings.requireInSearchPath("docker-credential-keychain")
        let directory = try surroundings.variable("DOCKER_CONFIG") ?? surroundings.home(".docker")
        let file = try SetupFile(FilePath.join(directory, "config.json"))
        let text = try file.text
        var plan = SetupPlan()
        if text.allSatisfy(\.isWhitespace) {
            plan.change(file, .member(JSONMember(key: key, value: value, replaced: nil)))
            return plan
        }
        guard let object = JSONText(text), !object.isAmbiguous(key) else {
            throw SetupFailure(
                message: "\(file.path) is not a JSON object with \(key) once at most: mend it, and put "
                    + "\"\(key)\": \(value) into it")
        }
        let former = object.value(of: key)
        if former != value {
            plan.change(file, .member(JSONMember(key: key, value: value, replaced: former)))
            if let former, former.hasPrefix("\""), former != "\"\"" {
                plan.notes.append("docker used the helper \(former) so far: log in again, or move what is there")
            }
        }
        let registries = plainRegistries(text)
        if !registries.isEmpty {
            plan.notes.append(
                "\(file.path) has passwords in plain text, for \(registries.joined(separator: ", ")): 'docker logout' and "
                    + "'docker login' move each of them")
        }
        return plan
    }

    private static func plainRegistries(_ text: String) -> [String] {
        let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let registries = object?["auths"] as? [String: [String: Any]] ?? [:]
        return registries.filter { $0.value["auth"] != nil || $0.value["identitytoken"] != nil }.keys.sorted()
    }
}
