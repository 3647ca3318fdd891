internal import KeychainModel

/// Texts with secrets in them.
extension SecretBuffer {
    func appendBase64(of secret: SecretBytes) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        secret.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let group = bytes[start..<min(start + 3, bytes.count)]
                let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
                for place in 0..<4 {
                    append(place > group.count ? UInt8(ascii: "=") : digits[bits >> (18 - 6 * place) & 0x3f])
                }
            }
        }
    }

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
