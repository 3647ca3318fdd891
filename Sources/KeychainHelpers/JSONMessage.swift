internal import FoundationEssentials
package import KeychainModel

/// One JSON value on a line, as docker and cargo send and expect it.
package enum JSONMessage {
    /// - Throws: ``HelperFailure``. Its message has nothing of the input, which may have a secret.
    package static func decode<T: Decodable>(
        _ type: T.Type, _ bytes: SecretBytes, from sender: String
    ) throws(HelperFailure) -> T {
        do {
            return try JSONDecoder().decode(type, from: bytes.copyData())
        } catch {
            throw HelperFailure("\(sender) sent something that is not the JSON of its protocol: nothing was done")
        }
    }

    static func line(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value) + Data("\n".utf8)
    }
}

extension SecretBytes {
    convenience init(_ text: String) { self.init(copying: Data(text.utf8)) }

    /// - Throws: ``HelperFailure`` if the bytes are not UTF-8.
    func text(_ name: String) throws(HelperFailure) -> String {
        guard let text = withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw HelperFailure("\(name) is not UTF-8, and this tool's protocol has text alone")
        }
        return text
    }
}
