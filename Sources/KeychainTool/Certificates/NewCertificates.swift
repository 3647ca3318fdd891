internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The options for certificates and keys that are stored. One call stores all of them or none.
struct NewCertificates: ParsableArguments {
    @Option(help: "The label, for people (default: of a certificate, its subject).") var label: String?
    @Option(help: "The access group.") var group = "keychain"
    @Flag(help: "Mark the items as ones that may be synchronized.") var sync = false
    @Flag(help: "Print the items as they are stored, as a JSON array, and for each whether it was added.")
    var json = false

    func validate() throws {
        if group.isEmpty { throw ValidationError("An access group cannot have an empty name.") }
    }

    func request(for certificate: X509Certificate) -> AddRequest {
        var request = request(.certificate)
        request.attributes = CertificateAttributes(certificate).all
        request.secret = SecretBytes(copying: certificate.der)
        if let label { request.attributes[.label] = .text(label) }
        return request
    }

    func request(for key: AsymmetricKey, tag: String?, _ accessControl: AccessControl?) -> AddRequest {
        var request = request(.key)
        request.attributes = KeyItemAttributes(key).all
        request.secret = SecretBytes(copying: key.externalRepresentation)
        request.accessControl = accessControl
        if let tag { request.attributes[.applicationTag] = .text(tag) }
        if let label { request.attributes[.label] = .text(label) }
        return request
    }

    private func request(_ itemClass: ItemClass) -> AddRequest {
        var request = AddRequest(itemClass)
        (request.accessGroup, request.synchronizable) = (group, sync)
        return request
    }

    /// Adds the items that are missing, and tells which were there.
    func store(_ requests: [AddRequest], in options: StoreOptions, _ asking: Asking) throws {
        var session = try KeychainSession(options)
        let isFirst = session.presence == .absent
        session.asking = asking
        let ready = session
        let isAdded = try ready.connection.addMissing(requests, ready.asking)
        if isFirst { session.noteIfNeverLocked() }
        for (request, isNew) in zip(requests, isAdded) where !isNew {
            Console.note("note: \(request.inWords) was there already, and stays as it is")
        }
        if json { try report(requests, isAdded, ready).writeJSON() }
    }

    private func report(
        _ requests: [AddRequest], _ isAdded: [Bool], _ session: KeychainSession
    ) throws -> [JSONValue] {
        try zip(requests, isAdded).flatMap { request, isNew in
            try session.find(request.queryForExisting).items.map { $0.json.adding("added", isNew.json) }
        }
    }
}

extension AddRequest {
    /// "the certificate host.example", for messages.
    fileprivate var inWords: String {
        guard case .text(let label)? = attributes[.label] else { return "the \(itemClass.title)" }
        return "the \(itemClass.title) \(label)"
    }
}
