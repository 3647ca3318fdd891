internal import ArgumentParser
internal import KeychainModel
internal import KeychainRun

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
                let taken = items.sortedForPeople.filter { !items.haveOtherProtocol($0) && netrc.add($0) }
                if taken.isEmpty || (machine != nil && taken.count < items.count) {
                    throw KeychainError(
                        .parameter,
                        message: "\(items.count - taken.count) of \(items.count) passwords do not fit a netrc: "
                            + "it has a place for a server, an account and a secret of one line, and none for a port, a path "
                            + "or one of two protocols"
                    )
                }
                if taken.count < items.count {
                    Console.note(
                        "note: \(counted(items.count - taken.count, "password")) left out: they do not fit a netrc")
                }
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

extension Item {
    /// Readers of a netrc compare the names of servers without regard to capitals.
    fileprivate var serverInSmallLetters: String? {
        if case .text(let server)? = attributes[.server] { server.lowercased() } else { nil }
    }
}

extension [Item] {
    /// Whether another item is for the same server by another protocol. A line of a netrc would hold for both.
    fileprivate func haveOtherProtocol(_ item: Item) -> Bool {
        contains {
            $0.serverInSmallLetters == item.serverInSmallLetters
                && $0.attributes[.internetProtocol] != item.attributes[.internetProtocol]
        }
    }
}
