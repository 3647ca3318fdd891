internal import ArgumentParser
internal import KeychainModel
internal import KeychainRun

/// Finds the secrets of references, all or none of them.
struct SecretLookup {
    let session: KeychainSession

    /// Everything is looked for before a person is asked for anything, and they are asked once for all of it.
    ///
    /// - Throws: the exit status, after each reference that leads to no secret was named.
    func secrets(of references: [NamedReference]) throws -> [ItemReference: SecretBytes] {
        var problems = LookupProblems()
        for named in references {
            try problems.note(named.name) {
                let filter = try named.reference.filter
                _ = try filter.naming {
                    try session.soleReadableMatch(of: try filter.query(for: filter.requireItemClass()))
                }
            }
        }
        try problems.end()
        var secrets: [ItemReference: SecretBytes] = [:]
        for named in references where secrets[named.reference] == nil {
            try problems.note(named.name) { secrets[named.reference] = try secret(of: named.reference) }
        }
        try problems.end()
        return secrets
    }

    private func secret(of reference: ItemReference) throws -> SecretBytes {
        let filter = try reference.filter
        let query = try filter.query(for: filter.requireItemClass())
        let secret = try filter.naming { try session.secret(of: query) }
        guard let field = reference.field else { return secret }
        guard let value = field.value(in: secret) else {
            throw KeychainError(.itemNotFound, message: "the secret of that item has no \(field.name)")
        }
        return value
    }
}

/// What keeps secrets from being there. Each is told, and none is enough to end at once, unless a person was asked.
struct LookupProblems {
    private var codes: [KeychainError.Code] = []

    mutating func note(_ name: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as KeychainError where error.code != .userCancelled && error.code != .authenticationFailed {
            Console.complain("\(name): \(error.message)")
            codes.append(error.code)
        } catch let failure as ToolFailure {
            throw ToolFailure(message: failure.message.map { "\(name): \($0); nothing was started" })
        }
    }

    /// - Throws: the exit status, if there were any. What is locked is never said to be missing.
    func end() throws {
        guard let first = codes.first else { return }
        Console.complain("nothing was started")
        throw ExitCode(ExitStatus.of(codes.first { $0 != .itemNotFound } ?? first))
    }
}

extension ItemReference {
    var filter: ItemFilter {
        get throws(KeychainError) {
            var filter = ItemFilter.every
            (filter.account, filter.group) = (account, group)
            switch kind {
            case .generic: (filter.kind, filter.service) = (.generic, place)
            case .internet: (filter.kind, filter.server, filter.port, filter.path) = (.internet, place, port, path)
            }
            if let internetProtocol {
                guard let known = InternetProtocol(rawValue: internetProtocol) else {
                    throw KeychainError(
                        .parameter,
                        message: "there is no protocol \(internetProtocol): the names are those of --protocol")
                }
                filter.internetProtocol = known
            }
            return filter
        }
    }
}
