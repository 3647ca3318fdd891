import Foundation
import KeychainModel
import KeychainWire
import Testing

extension WireFrame {
    /// All secrets in one, as they are read from a socket; nil if there are none.
    var tail: SecretBytes? {
        let bytes = tailBytes
        return bytes.isEmpty ? nil : SecretBytes(copying: bytes)
    }

    var tailBytes: Data { secrets.reduce(into: Data()) { $0 += $1.copyData() } }
}

extension ClientMessage {
    /// As it is read at the other end.
    func arrived() throws -> ClientMessage {
        let frame = try frame()
        return try ClientMessage(message: frame.message, tail: frame.tail)
    }
}

extension DaemonMessage {
    func arrived() throws -> DaemonMessage {
        let frame = frame()
        return try DaemonMessage(message: frame.message, tail: frame.tail)
    }
}

/// Expects that a message is refused with this status, under the id that it bears.
func expectRefusal(
    _ code: KeychainError.Code, id: UInt64, sourceLocation: SourceLocation = #_sourceLocation,
    of decode: () throws -> ClientMessage
) {
    do {
        let message = try decode()
        Issue.record("taken for \(Structure(message))", sourceLocation: sourceLocation)
    } catch WireFlaw.badRequest(let found, let error) {
        #expect(found == id, sourceLocation: sourceLocation)
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}

/// Expects that a message ends its connection.
func expectUnreadable(sourceLocation: SourceLocation = #_sourceLocation, of decode: () throws -> some Any) {
    do {
        let message = try decode()
        Issue.record("taken for \(Structure(message))", sourceLocation: sourceLocation)
    } catch WireFlaw.unreadable(let reason) {
        #expect(!reason.isEmpty, sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}
