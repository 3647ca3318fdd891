internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainKeys
internal import KeychainModel

/// Files of certificates and keys that a person names, and the passphrase of the sealed ones.
struct CertificateInput: ParsableArguments {
    @Argument(
        help: "The files: DER, PEM, PKCS#7 or PKCS#12 (- is standard input).", completion: .file())
    var files: [String]
    @OptionGroup var passphrase: PassphraseOptions

    func validate() throws {
        try NameKind.file.require(files)
        if files.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input is there only once.") }
    }

    /// The certificates and keys of all the files. The result has each only once.
    func read() throws -> CertificateCollection {
        var (collection, passphrases) = (CertificateCollection(), PassphraseSource(passphrase, files))
        for file in files {
            let message = "\(file): a file of certificates has at most 4 MiB"
            let bytes = try FileInput.read(file, limit: CertificateFile.mostBytes, otherwise: message).copyData()
            do {
                try collection.append(try CertificateFile(bytes), named: file, &passphrases)
            } catch let error as KeychainError {
                throw KeychainError(error.code, message: "\(file): \(error.message)", cause: error)
            }
        }
        return collection
    }
}

/// The certificates and keys in files.
struct CertificateCollection {
    private(set) var certificates: [X509Certificate] = []
    /// The keys, each with its name in a PKCS#12 file.
    private(set) var keys: [(key: AsymmetricKey, name: String?)] = []

    fileprivate mutating func append(
        _ file: CertificateFile, named name: String, _ passphrases: inout PassphraseSource
    ) throws {
        switch file {
        case .plain(let certificates, let keys):
            for certificate in certificates { append(certificate) }
            for key in keys {
                switch key {
                case .key(let key): append(key, nil)
                case .encrypted(let key): append(try key.key(try passphrases.passphrase(of: name)), nil)
                }
            }
        case .pkcs12(let file):
            let content = try file.open(try passphrases.passphrase(of: name))
            for (certificate, _) in content.certificates { append(certificate) }
            for (key, mark) in content.keys { append(key, mark.name) }
        }
    }

    private mutating func append(_ certificate: X509Certificate) {
        if !known.insert(certificate.fingerprint).inserted { return }
        certificates.append(certificate)
    }

    private mutating func append(_ key: AsymmetricKey, _ name: String?) {
        if !known.insert(key.publicBytes).inserted { return }
        keys.append((key, name))
    }

    private var known: Set<Data> = []

    func certificate(of key: AsymmetricKey) -> X509Certificate? {
        let label = key.label
        return certificates.first { $0.publicKeyHash == label }
    }
}
