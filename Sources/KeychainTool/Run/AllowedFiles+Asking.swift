internal import KeychainClient
internal import KeychainModel
internal import KeychainRun

extension AllowedFiles {
    init(_ store: StoreOptions) throws(KeychainError) { self.init(try StoreLocation(store.configuration)) }

    /// Lets a file through that needs no permission, has it with its present content, or gets it from the person at the
    /// terminal.
    ///
    /// - Parameters:
    ///   - otherwise: The advice to do without the file.
    ///   - mayAsk: Whether a person may be asked.
    /// - Throws: a ``ToolFailure`` if the file is not allowed, `.userCancelled` if the person declines.
    func require(_ file: ReferenceFile, otherwise: String, mayAsk: Bool, _ store: StoreOptions) throws {
        guard let objection = try objection(to: file) else { return }
        guard mayAsk && file.isNameable && Confirmation.isPossible else {
            let look = file.isNameable ? "look at it with '\(Self.command(file, store))'" : "look at it"
            throw ToolFailure(
                message: "\(file.path) \(objection): \(look), let it count this once with --allow, or \(otherwise)")
        }
        Console.show(file.linesForPeople)
        try Confirmation.require(
            "\(file.path) \(objection). 'keychainctl run' will give these secrets to commands that are started with it, "
                + "until it changes", else: "it is not allowed")
        try allow(file)
    }

    /// The command that allows the file, as a line for the shell.
    private static func command(_ file: ReferenceFile, _ store: StoreOptions) -> String {
        let options = [("--store", store.storeDirectory), ("--device-key", store.deviceKeyDirectory)]
            .flatMap { option, value in value.map { [option, $0] } ?? [] }
        let path: [String] = if case .project = file.content { [] } else { [file.path] }
        return (["keychainctl", "allow"] + options + path).map(ShellWord.quoted).joined(separator: " ")
    }
}

/// The requests of a file that names secrets, for a person to judge.
extension ReferenceFile {
    /// The weightiest lines come last, so that a terminal shows them right above the question.
    var linesForPeople: [String] {
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

    /// The file as one that is allowed.
    var json: JSONValue {
        .object([
            ("path", path.json), ("allowed", true.json), ("sha256", digest.json),
            ("command", content.command.json),
            ("environment", .object(content.variables.map { ($0.name, content.shows($0) ? $0.value.json : .null) })),
        ])
    }
}

extension ItemReference {
    var itemClass: ItemClass { kind == .generic ? .genericPassword : .internetPassword }
}
