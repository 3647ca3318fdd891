internal import Foundation
internal import SwiftProtobuf

extension SwiftProtobuf.Message {
    /// - Throws: `.dataTooLarge` for more than 2 GiB, which is all that can be wrong.
    func encoded() throws(KeychainError) -> Data {
        do {
            return try serializedBytes()
        } catch {
            throw KeychainError(.dataTooLarge, message: "what was to be sent has more than 2 GiB", cause: error)
        }
    }

    /// - Throws: `.unreadable` for bytes that are no message of this kind.
    init(decoding bytes: Data) throws(WireFlaw) {
        do {
            try self.init(serializedBytes: bytes)
        } catch {
            throw .unreadable("the bytes are no message of this protocol")
        }
    }
}
