internal import KeychainSystem

/// The permissions that `keychainctl allow` has recorded: files, and the digest that the content of each must have.
///
/// The text is a line "keychainctl allowed 1", then one line for each file: SHA-256 in 64 hexadecimal digits, a space,
/// the file's path. Control characters and % of a path are written as %XX.
package struct AllowedRecord: Equatable, Sendable {
    private static let title = "keychainctl allowed 1"

    package private(set) var digests: [(path: String, digest: String)] = []

    package init() {}

    /// - Returns: nil if the text is damaged, or of another version.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count > 1, lines.removeLast().isEmpty, lines.removeFirst().elementsEqual(Self.title.utf8) else {
            return nil
        }
        for line in lines {
            let digest = String(decoding: line.prefix(64), as: UTF8.self)
            guard digest.utf8.count == 64, digest.allSatisfy({ $0.isASCII && $0.isHexDigit && !$0.isUppercase }),
                line.dropFirst(64).first == UInt8(ascii: " "),
                let path = PercentEncoding.decode(line.dropFirst(65)), path.utf8.first == UInt8(ascii: "/"),
                self[path] == nil
            else { return nil }
            digests.append((path, digest))
        }
    }

    package static func == (one: AllowedRecord, other: AllowedRecord) -> Bool { one.text == other.text }

    package var text: String {
        digests.reduce(into: Self.title + "\n") { text, line in
            text += "\(line.digest) \(PercentEncoding.encode(line.path))\n"
        }
    }

    /// The digest, in lower case, that the file of a path must have; nil: the file is not allowed.
    package subscript(path: String) -> String? {
        get { digests.first { $0.path.utf8.elementsEqual(path.utf8) }?.digest }
        set {
            digests.removeAll { $0.path.utf8.elementsEqual(path.utf8) }
            if let newValue { digests.append((path, newValue)) }
        }
    }
}
