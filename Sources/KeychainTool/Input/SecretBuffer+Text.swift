internal import KeychainModel

/// Texts with secrets in them.
extension SecretBuffer {
    /// Appends a string of JSON, or an object with base64 if the secret is no text.
    func appendJSON(of secret: SecretBytes) {
        guard secret.isText else {
            append("{\"base64\": \"")
            appendBase64(of: secret)
            return append("\"}")
        }
        append("\"")
        secret.withUnsafeBytes { bytes in
            for scalar in bytes.scalars { append(JSONValue.quoted(scalar)) }
        }
        append("\"")
    }
}

extension SecretBytes {
    fileprivate var isText: Bool {
        withUnsafeBytes { bytes in
            var parser = Unicode.UTF8.ForwardParser()
            var iterator = bytes.makeIterator()
            while true {
                switch parser.parseScalar(from: &iterator) {
                case .valid: continue
                case .emptyInput: return true
                case .error: return false
                }
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var scalars: some Sequence<Unicode.Scalar> {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = makeIterator()
        return AnyIterator {
            guard case .valid(let encoded) = parser.parseScalar(from: &iterator) else { return nil }
            return Unicode.UTF8.decode(encoded)
        }
    }
}
