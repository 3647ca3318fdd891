internal import KeychainModel
internal import KeychainRun

extension KeychainSession {
    /// The secrets of references, all or none of them. The items are looked for before a person is asked, and the person
    /// is asked once for all of them.
    ///
    /// - Throws: an error, after the person was told of each reference without a secret.
    func secrets(of references: [NamedReference]) throws -> [ItemReference: SecretBytes] {
        var problems = LookupProblems()
        for named in references {
            try problems.note(named.name) {
                let filter = try named.reference.filter
                _ = try filter.naming { try meaning(of: try filter.levels(), amongReachable: true) }
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
        let secret = try filter.naming { try item(of: try filter.levels()) }.requireSecret()
        guard let field = reference.field else { return secret }
        guard let value = field.value(in: secret) else {
            throw KeychainError(.itemNotFound, message: "the secret of that item has no \(field.name)")
        }
        return value
    }
}

extension ItemReference {
    var filter: ItemFilter {
        get throws(KeychainError) {
            var filter: ItemFilter
            switch kind {
            case .generic:
                filter = ItemFilter(ItemClass.genericPassword.name)
                filter.service = place
            case .internet:
                filter = ItemFilter(ItemClass.internetPassword.name)
                (filter.server, filter.port, filter.path) = (place, port, path)
            }
            (filter.account, filter.group) = (account, group)
            if let internetProtocol {
                guard let known = InternetProtocol(name: internetProtocol) else {
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

/// Finds the internet passwords that go into a netrc.
struct NetrcLookup {
    let session: KeychainSession
    /// The servers that are meant; none: all whose passwords need no question to a person.
    let machines: [String]

    /// Checks that each server has a password, without a question.
    ///
    /// - Throws: an error, after the person was told of each server without a password.
    func check() throws {
        var problems = LookupProblems()
        for machine in machines {
            let filter = filter(machine)
            try problems.note("--machine \(machine)") {
                _ = try filter.naming { try session.find(try filter.query(for: .internetPassword)) }
            }
        }
        try problems.end()
    }

    private func filter(_ machine: String?) -> ItemFilter {
        var filter = ItemFilter(ItemClass.internetPassword.name)
        filter.server = machine
        return filter
    }

    /// - Throws: an error, after the person was told of each server without a readable password.
    func netrc() throws -> Netrc {
        var netrc = Netrc()
        var problems = LookupProblems()
        for machine in machines.isEmpty ? [nil] : machines.map(Optional.some) {
            try problems.note(machine.map { "--machine \($0)" } ?? "--netrc") {
                let filter = filter(machine)
                let items = try filter.naming { try passwords(of: try filter.query(for: .internetPassword)) }
                let left = items.count - netrc.add(items.sortedForPeople)
                if left == items.count || (machine != nil && left > 0) {
                    throw KeychainError(
                        .parameter,
                        message: "\(left) of \(items.count) passwords do not fit a netrc: "
                            + "it has a place for a server, an account and a secret of one line, and none for a port, a path "
                            + "or one of two protocols"
                    )
                }
                if left > 0 { Console.note("note: \(counted(left, "password")) left out: they do not fit a netrc") }
            }
        }
        try problems.end()
        return netrc
    }

    private func passwords(of query: ItemQuery) throws -> [Item] {
        var query = query
        if machines.isEmpty {
            let found = try session.find(query)
            if found.hasConstrained {
                if found.items.isEmpty { throw KeychainError.consentNeeded }
                Console.note("note: passwords that ask for authentication are left out: --machine names one")
            }
            query.authenticationUI = .skip
        }
        return try session.items(of: query, wantsSecrets: true)
    }
}

/// The reasons why secrets are missing. Each is told, and the look-up goes on, unless a person has declined or failed.
struct LookupProblems {
    private var codes: [KeychainError.Code] = []

    mutating func note(_ name: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as KeychainError where error.code != .userCancelled && error.code != .authenticationFailed {
            tell(name, error)
        } catch let error as AmbiguousMatch {
            tell(name, error.error)
        } catch let failure as ToolFailure {
            throw ToolFailure(message: failure.message.map { "\(name): \($0); nothing was started" })
        }
    }

    private mutating func tell(_ name: String, _ error: KeychainError) {
        Console.complain("\(name): \(error.message)")
        codes.append(error.code)
    }

    /// - Throws: an error with the status of one problem. A missing item counts only if there is no other problem.
    func end() throws(KeychainError) {
        guard let first = codes.first else { return }
        throw KeychainError(codes.first { $0 != .itemNotFound } ?? first, message: "nothing was started")
    }
}
