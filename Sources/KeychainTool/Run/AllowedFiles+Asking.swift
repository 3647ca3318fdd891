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
        Console.show(ReferenceReport(file).lines)
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
