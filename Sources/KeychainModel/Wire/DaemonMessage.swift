package import Foundation
internal import SwiftProtobuf

/// What a daemon says to a client.
package enum DaemonMessage: Sendable {
    /// The answer to a hello.
    case welcome(DaemonWelcome)
    /// A part of the answer to a request; more follow unless it is the last.
    case reply(id: UInt64, Reply, isLast: Bool)
    case failure(id: UInt64, KeychainError)
    /// To a connection that subscribed, under the id of its subscription.
    case event(id: UInt64, StoreChange)
    /// What came of waiting for a finger or a face.
    case biometry(id: UInt64, Result<BiometryTicket, BiometryFailure>)
    /// Before that, what the person is to do.
    case biometryHint(id: UInt64, BiometryHint)
    /// The last message of a connection that the daemon ends.
    case goodbye(DaemonGoodbye)
}

package struct DaemonWelcome: Sendable, Hashable {
    package var version: UInt32
    /// Drawn anew by each start of the daemon.
    package var instance: UUID
    package var processID: Int32
    /// Of the software, for a person.
    package var release: String

    package init(
        version: UInt32 = ClientHello.currentVersion, instance: UUID, processID: Int32, release: String
    ) {
        self.version = version
        self.instance = instance
        self.processID = processID
        self.release = release
    }
}

/// Why a daemon ends a connection.
package struct DaemonGoodbye: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        case shuttingDown
        /// What the client sent is no message, or not one it may send now.
        case malformed
        case unsupportedVersion
        /// A message was not complete in time, or its answers were not read.
        case tooSlow
        case tooManyConnections
        /// The client is not one that this daemon serves.
        case refused
        /// The store went back to the programs themselves.
        case storeGivenUp
        /// The store cannot be opened.
        case noStore
    }

    package var reason: Reason
    /// For a person: what is wrong and what to do.
    package var message: String
    /// The highest id of a request that was begun; every later one was never seen. 0: none was.
    package var lastRequest: UInt64

    package init(_ reason: Reason, _ message: String, lastRequest: UInt64 = 0) {
        self.reason = reason
        self.message = message
        self.lastRequest = lastRequest
    }
}

extension DaemonMessage {
    /// A reply of more than 2 GiB becomes the failure that says so.
    package func frame() -> WireFrame {
        var secrets: [SecretBytes] = []
        do throws(KeychainError) {
            return WireFrame(message: try WireDaemonMessage(self, &secrets).encoded(), secrets: secrets)
        } catch {
            guard case .reply(let id, _, _) = self else { preconditionFailure("\(error)") }
            let failure = KeychainError(.dataTooLarge, message: "the answer has more than 2 GiB: ask for fewer items")
            return DaemonMessage.failure(id: id, failure).frame()
        }
    }

    /// - Parameter tail: nil: there was none.
    package init(message: Data, tail: SecretBytes?) throws(WireFlaw) {
        let wire = try WireDaemonMessage(decoding: message)
        var tail = WireTail(tail)
        do throws(KeychainError) {
            self = try DaemonMessage(wire, &tail)
            try tail.requireEnd()
        } catch {
            throw .unreadable(error.message)
        }
    }
}

extension WireDaemonMessage {
    fileprivate init(_ message: DaemonMessage, _ secrets: inout [SecretBytes]) {
        self.init()
        switch message {
        case .welcome(let message): welcome = WireWelcome(message)
        case .goodbye(let message): goodbye = WireGoodbye(message)
        case .reply(let id, let reply, let isLast): self.init(id, reply, isLast: isLast, &secrets)
        case .failure(let id, let error):
            self.id = id
            failure = WireFailure(error)
        case .event(let id, .lock(let status)):
            self.id = id
            lockEvent = WireLockStatus(status)
        case .event(let id, .items(let itemClass, let group)):
            self.id = id
            itemEvent = WireItemEvent(itemClass, accessGroup: group)
        case .biometry(let id, let answer):
            self.id = id
            biometry = WireBiometryAnswer(answer)
        case .biometryHint(let id, let hint):
            self.id = id
            biometryHint = .with { $0.text = hint.text }
        }
    }
}

extension DaemonMessage {
    fileprivate init(_ wire: WireDaemonMessage, _ tail: inout WireTail) throws(KeychainError) {
        switch wire.kind {
        case .welcome(let welcome): self = .welcome(try DaemonWelcome(welcome))
        case .goodbye(let goodbye): self = .goodbye(try DaemonGoodbye(goodbye))
        case .failure(let failure): self = .failure(id: try wire.requestID, try KeychainError(failure))
        case .lockEvent(let status): self = .event(id: try wire.requestID, .lock(try LockStatus(status)))
        case .itemEvent(let event):
            self = .event(
                id: try wire.requestID, .items(try ItemClass(event.itemClass), accessGroup: event.accessGroup))
        case .biometry(let answer):
            self = .biometry(
                id: try wire.requestID, try Result<BiometryTicket, BiometryFailure>(answer))
        case .biometryHint(let hint): self = .biometryHint(id: try wire.requestID, BiometryHint(hint.text))
        case let reply?:
            self = .reply(id: try wire.requestID, try Reply(reply, wire.items, &tail), isLast: !wire.more)
        case nil: throw KeychainError(.parameter, message: "the message is of a kind that is not known here")
        }
    }
}

extension WireDaemonMessage {
    /// Or that of a subscription.
    fileprivate var requestID: UInt64 {
        get throws(KeychainError) {
            guard id > 0 else { throw KeychainError(.parameter, message: "the message names no request") }
            return id
        }
    }
}
