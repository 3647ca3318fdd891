internal import ArgumentParser
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The options for certificates and keys that are stored. One call stores all of them or none.
struct NewCertificates: ParsableArguments {
    @Option(help: "The label, for people (default: of a certificate, its subject).") var label: String?
    @Option(help: ArgumentHelp(KeychainSession.helpOfGroup)) var group: String?
    @Flag(help: "Mark the items as ones that may be synchronized.") var sync = false
    @Flag(help: "Print the items as they are stored, as a JSON array, and for each whether it was added.")
    var json = false

    func validate() throws { try NameKind.group.require(group) }

    func request(for certificate: X509Certificate) -> AddRequest {
        var request = AddRequest(.certificate)
        request.synchronizable = sync
        request.attributes = CertificateAttributes(certificate).all
        request.secret = SecretBytes(copying: certificate.der)
        if let label { request.attributes[.label] = .text(label) }
        return request
    }

    func request(for key: AsymmetricKey, tag: String?, _ accessControl: AccessControl?) -> AddRequest {
        var request = AddRequest(key, tag: tag, label: label)
        request.synchronizable = sync
        request.accessControl = accessControl
        return request
    }

    /// Adds the items that are missing, and tells which were there.
    func store(
        _ requests: [AddRequest], in options: StoreOptions, _ asking: Asking = Asking(mayAsk: false)
    ) throws {
        let session = try KeychainSession(options, asking)
        let group = try session.group(group)
        let requests = requests.map { request in
            var request = request
            request.accessGroup = group
            return request
        }
        let isAdded = try session.storing { try session.connection.addMissing(requests, asking) }
        for (request, isNew) in zip(requests, isAdded) where !isNew {
            Console.note("note: \(request.inWords) was there already, and stays as it is")
        }
        guard json else { return }
        let reports = try zip(requests, isAdded).flatMap { request, isNew in
            try session.find(request.queryForExisting).items.map { $0.json.adding("added", isNew.json) }
        }
        try reports.writeJSON()
    }
}

extension AddRequest {
    /// "the certificate host.example", for messages.
    fileprivate var inWords: String {
        guard case .text(let label)? = attributes[.label] else { return "the \(itemClass.title)" }
        return "the \(itemClass.title) \(label)"
    }
}
