internal import KeychainModel
internal import KeychainRun

/// The requests of a file that names secrets, for a person to judge.
struct ReferenceReport {
    let path: String
    let content: ReferenceContent

    init(_ file: ReferenceFile) { (path, content) = (file.path, file.content) }

    /// The weightiest lines come last, so that a terminal shows them right above the question.
    var lines: [String] {
        let hidden = content.variables.filter { !content.shows($0) }.map { "  \($0.name)  = …" }
        let shown = content.variables.filter { content.shows($0) }
        let plain = shown.filter { !ItemReference.isMeant(by: $0.value) }
        let references = shown.filter { ItemReference.isMeant(by: $0.value) }
        let lines =
            [path] + hidden + (plain + references).map { "  \($0.name)  \(Self.words(for: $0.value))" }
            + (content.command.map { ["  runs  \($0)"] } ?? [])
        return lines.map { TerminalText.escape($0) }
    }

    /// The words for a value: "the secret of generic password service api.example.com, account ada".
    private static func words(for value: String) -> String {
        guard ItemReference.isMeant(by: value) else { return "= \(value)" }
        guard let reference = try? ItemReference(value), let filter = try? reference.filter else {
            return "= \(value), which is no valid reference"
        }
        let part = reference.field.map { "\($0.name) of the secret" } ?? "the secret"
        return "\(part) of the \(reference.itemClass.title)\(filter.inWords(after: " "))"
    }

    func json(isAllowed: Bool, digest: String) -> JSONValue {
        .object([
            ("path", .string(path)), ("allowed", .boolean(isAllowed)), ("sha256", .string(digest)),
            ("command", content.command.map(JSONValue.string) ?? .null),
            (
                "environment",
                .object(content.variables.map { ($0.name, content.shows($0) ? .string($0.value) : .null) })
            ),
        ])
    }
}

extension ItemReference {
    var itemClass: ItemClass { kind == .generic ? .genericPassword : .internetPassword }
}
