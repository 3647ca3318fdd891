internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

/// The way from the options of 'run' to a program that can be started.
final class RunPlan {
    private let options: RunCommand
    private let command: String?
    private var environment = RunEnvironment()
    private let references: [NamedReference]
    private var files: [MemoryFile] = []

    /// Reads the files, requires their permission, and finds the mistakes that need no keychain.
    init(_ options: RunCommand) throws {
        self.options = options
        var environment = RunEnvironment()
        let files = try Self.files(options)
        for (file, _) in files {
            for variable in file.content.variables { environment.set(variable, from: file.path) }
        }
        let line = files.lazy.compactMap(\.file.content.command).first
        guard line != nil || !options.command.isEmpty else {
            throw ValidationError("There is no command: write it behind --, as in 'keychainctl run -- make'.")
        }
        command = options.command.isEmpty ? line : nil
        references = try environment.references(only: options.only.isEmpty ? nil : options.only)
        self.environment = environment
        try requirePermission(files)
        try requireReferences()
    }

    /// A file, and the advice to do without it.
    private typealias NamedFile = (file: ReferenceFile, otherwise: String)

    private static func files(_ options: RunCommand) throws -> [NamedFile] {
        try sayingThatNothingWasStarted {
            var files: [NamedFile] = []
            if !options.noProject,
                let path = ReferenceFile.projectPath(in: try ReferenceFile.workingDirectory())
            {
                files.append((try ReferenceFile(project: path), "leave it out with --no-project"))
            }
            return files + (try options.environmentFiles.map { (try ReferenceFile(environment: $0), "leave it out") })
        }
    }

    /// A project's file always needs permission. An env file needs it if the command gets any secret: each variable of
    /// the file, such as PATH, may decide which program gets the secret.
    private func requirePermission(_ files: [NamedFile]) throws {
        if options.allow { return }
        let hasSecrets = !references.isEmpty || options.netrc
        let allowed = try AllowedFiles(options.store)
        try Self.sayingThatNothingWasStarted {
            for (file, otherwise) in files where hasSecrets || file.content.isProject {
                try allowed.require(
                    file, otherwise: otherwise, mayAsk: !options.authentication.noInteraction, options.store)
            }
        }
    }

    private static func sayingThatNothingWasStarted<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as KeychainError {
            throw KeychainError(error.code, message: "\(error.message). Nothing was started", cause: error)
        }
    }

    /// Options may name only variables with references.
    private func requireReferences() throws(KeychainError) {
        let named =
            options.only.map { ("--only", $0) } + options.files.map { ("--file", $0) }
            + [options.standardInput].compactMap { name in name.map { ("--stdin", $0) } }
        let wrong = named.filter { option, name in !references.contains { $0.name == name } }
        guard !wrong.isEmpty else { return }
        let list = wrong.map { "\($0) \($1)" }.joined(separator: ", ")
        throw KeychainError(
            .parameter, message: "there is no reference in a variable for \(list). Nothing was started")
    }

    // MARK: Secrets

    /// Looks up the secrets, and puts them where the program finds them.
    ///
    /// - Parameter secrets: Gets the secrets for the mask.
    func prepare(_ secrets: inout [SecretBytes]) throws -> RunProgram {
        if !references.isEmpty || options.netrc { try lookUp(&secrets) }
        return RunProgram(
            line: command, orWordsFrom: ArgumentText.commandStart ?? Int(CommandLine.argc), environment,
            leavesCores: options.cores)
    }

    /// Looks up the secrets. The keychain is closed again before the program runs.
    private func lookUp(_ secrets: inout [SecretBytes]) throws {
        let session = try openSession()
        let netrcLookup = options.netrc ? NetrcLookup(session: session, machines: options.machines) : nil
        try netrcLookup?.check()
        let found = try session.secrets(of: references)
        for named in references {
            guard let secret = found[named.reference] else { throw KeychainError.unexpectedReply }
            secrets.append(secret)
            try hand(secret, to: named.name)
        }
        if let netrc = try netrcLookup?.netrc() {
            secrets += netrc.secrets
            environment.set("NETRC", try memoryFile(netrc.file))
        }
    }

    private func openSession() throws(KeychainError) -> KeychainSession {
        let names = references.map(\.name) + (options.netrc ? ["NETRC"] : [])
        do throws(KeychainError) {
            let reason = "run \(command ?? options.command.first ?? "") with \(names.joined(separator: ", "))"
            return try KeychainSession.existing(options.store, options.authentication.asking(reason: reason))
        } catch  where error.code == .itemNotFound {
            throw KeychainError(
                .itemNotFound,
                message: "\(names.joined(separator: ", ")): \(error.message), so nothing was started", cause: error)
        }
    }

    private func hand(_ secret: SecretBytes, to name: String) throws {
        if name == options.standardInput {
            try MemoryFile(secret, for: .reading).becomeStandardInput()
            environment.remove(name)
        } else if options.files.contains(name) {
            environment.set(name, try memoryFile(secret))
        } else {
            guard !secret.withUnsafeBytes({ $0.contains(0) }) else {
                throw KeychainError(
                    .parameter,
                    message: "\(name): the secret has a zero byte, which no variable can have: hand it over with "
                        + "--file \(name) or --stdin \(name). Nothing was started")
            }
            environment.set(name, secret)
        }
    }

    private func memoryFile(_ secret: SecretBytes) throws(KeychainError) -> String {
        let file = try MemoryFile(secret, for: .reading)
        files.append(file)
        return file.inheritedPath
    }

    /// Call it when the program has the files.
    func releaseFiles() {
        for file in files { file.release() }
        files = []
        environment = RunEnvironment()
    }
}
