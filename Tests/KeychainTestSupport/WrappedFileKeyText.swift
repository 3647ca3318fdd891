internal import Foundation
package import KeychainModel

/// A wrapped file key as one word, for the command line of another process.
extension WrappedFileKey {
    package var text: String {
        var bytes = Data([fileClass.rawValue])
        for identifier in [fileID, storeID] { withUnsafeBytes(of: identifier.uuid) { bytes.append(contentsOf: $0) } }
        withUnsafeBytes(of: generation.bigEndian) { bytes.append(contentsOf: $0) }
        return (bytes + wrappedKey + publicKey).base64EncodedString()
    }

    package init?(text: String) {
        guard let bytes = Data(base64Encoded: text), bytes.count >= 77, let fileClass = FileClass(rawValue: bytes[0])
        else { return nil }
        let identifier = { (start: Int) in
            bytes[start..<(start + 16)].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
        self.init(
            fileID: identifier(1), storeID: identifier(17), fileClass: fileClass,
            generation: bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }, publicKey: Data(bytes[77...]),
            wrappedKey: Data(bytes[37..<77]))
    }
}
