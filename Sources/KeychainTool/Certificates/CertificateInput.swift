internal import ArgumentParser
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
                try collection.append(try CertificateFile(bytes)) { try passphrases.passphrase(of: file) }
            } catch let error as KeychainError {
                throw KeychainError(error.code, message: "\(file): \(error.message)", cause: error)
            }
        }
        return collection
    }
}
