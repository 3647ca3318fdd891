package import Foundation

extension OpenSSL {
    /// Makes a certificate in DER, valid for a year from now.
    ///
    /// - Parameters:
    ///   - subject: such as `/C=CH/CN=leaf`.
    ///   - key: The private key: SEC 1's or PKCS#1's DER.
    ///   - extensions: Lines of OpenSSL's configuration, such as `subjectAltName=DNS:a.example`.
    ///   - issuer: Who signs. nil: the key itself.
    ///   - serial: A number.
    package static func certificate(
        _ subject: String, key: Data, extensions: [String] = [], issuer: (certificate: Data, key: Data)? = nil,
        serial: Int = 1, days: Int = 365
    ) throws -> Data {
        let request = ["req", "-new", "-keyform", "DER", "-key", "key", "-subj", subject, "-multivalue-rdn", "-utf8"]
        guard let issuer else {
            return try output(
                request + ["-x509", "-days", "\(days)", "-set_serial", "\(serial)", "-outform", "DER"]
                    + extensions.flatMap { ["-addext", $0] },
                ["key": key])
        }
        let signingRequest = try output(request + ["-outform", "DER"], ["key": key])
        return try output(
            [
                "x509", "-req", "-inform", "DER", "-in", "request", "-CA", "issuer", "-CAform", "DER", "-CAkey",
                "issuerkey",
                "-CAkeyform", "DER", "-set_serial", "\(serial)", "-days", "\(days)", "-extfile", "extensions",
                "-outform", "DER",
            ],
            [
                "request": signingRequest, "issuer": issuer.certificate, "issuerkey": issuer.key,
                "extensions": Data(extensions.joined(separator: "\n").utf8),
            ])
    }

    /// What `openssl x509` says of a certificate.
    ///
    /// - Parameter question: such as `-serial`.
    package static func say(_ question: String, of certificate: Data) throws -> String {
        let output = try output(["x509", "-inform", "DER", "-in", "in", "-noout", question], ["in": certificate])
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension OpenSSL {
    /// Makes a certificate for a public key whose private half is elsewhere.
    ///
    /// - Parameter publicKey: A `SubjectPublicKeyInfo`.
    package static func certificate(
        forPublicKey publicKey: Data, _ subject: String, issuer: (certificate: Data, key: Data)
    ) throws -> Data {
        // The request is the issuer's own, and its key gives way to the other.
        let request = try output(
            ["req", "-new", "-keyform", "DER", "-key", "key", "-subj", subject, "-outform", "DER"], ["key": issuer.key])
        return try output(
            [
                "x509", "-req", "-inform", "DER", "-in", "request", "-force_pubkey", "public", "-keyform", "DER", "-CA",
                "issuer", "-CAform", "DER", "-CAkey", "issuerkey", "-CAkeyform", "DER", "-set_serial", "7", "-days",
                "30",
                "-outform", "DER",
            ],
            ["request": request, "issuer": issuer.certificate, "issuerkey": issuer.key, "public": publicKey])
    }
}
