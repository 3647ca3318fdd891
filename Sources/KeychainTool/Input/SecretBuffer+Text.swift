internal import KeychainModel

extension SecretBuffer {
    /// Appends a string of JSON, or an object with base64 if the secret is no text.
    func appendJSON(of secret: SecretBytes) {
        secret.withUnsafeBytes { bytes in
            guard let text = try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span) else {
                append("{\"base64\": \"")
                appendBase64(of: secret)
                return append("\"}")
            }
            append("\"")
            var scalars = text.makeUnicodeScalarIterator()
            while let scalar = scalars.next() { append(JSONValue.quoted(scalar)) }
            append("\"")
        }
    }
}
