package import Foundation

extension OpenSSL {
    /// Makes a PKCS#12 file.
    ///
    /// - Parameters:
    ///   - key: PKCS#1's or SEC 1's DER; nil for none.
    ///   - certificates: In DER, in the order that the file is to have.
    ///   - options: More words, such as `-legacy`.
    package static func pkcs12(
        key: Data?, certificates: [Data], passphrase: String, _ options: [String] = []
    ) throws -> Data {
        var files = ["in": Data(certificates.map { pem("CERTIFICATE", $0) }.joined().utf8)]
        var words = ["pkcs12", "-export", "-in", "in", "-passout", "pass:\(passphrase)"] + options
        if let key {
            files["key"] = try output(["pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-in", "in"], ["in": key])
            words += ["-inkey", "key"]
        } else {
            words.append("-nokeys")
        }
        return try output(words, files)
    }

    package static func pem(_ label: String, _ bytes: Data) -> String {
        let lines = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
    }
}
