internal import KeychainModel
internal import KeychainRun

/// Finds the secrets of references, all or none of them.
struct SecretLookup {
    let session: KeychainSession

    /// The items are looked for before a person is asked, and the person is asked once for all of them.
    ///
    /// - Throws: an error, after the person was told of each reference without a secret.
    func secrets(of references: [NamedReference]) throws -> [ItemReference: SecretBytes] {
        var problems = LookupProblems()
        for named in references {
            try problems.note(named.name) {
                let filter = try named.reference.filter
                _ = try filter.naming { try session.meaning(of: try filter.levels(), amongReachable: true) }
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
        let secret = try filter.naming { try session.item(of: try filter.levels()) }.requireSecret()
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
