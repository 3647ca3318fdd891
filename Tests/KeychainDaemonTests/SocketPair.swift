import Foundation
import KeychainBus
import KeychainSystem
import Testing

/// Both ends of a connection.
struct SocketPair {
    let served: OpenDescriptor
    let client: OpenDescriptor

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        (served, client) = (OpenDescriptor(ends[0]), OpenDescriptor(ends[1]))
    }

    /// Whether the served end has nothing more to receive.
    var hasEnded: Bool {
        get throws {
            var byte: UInt8 = 0
            return recv(served.number, &byte, 1, Int32(MSG_DONTWAIT)) == 0
        }
    }
}
