package import Foundation
internal import SwiftProtobuf

/// What a client says to a daemon.
package enum ClientMessage: Sendable {
    /// The first message of every connection.
    case hello(ClientHello)
    /// The ids of a connection's requests grow.
    case request(id: UInt64, Request)
    /// From now on the connection is told of changes, under this id, and asks for nothing more.
    ///
    /// - delaysLocks: Whether locks with notice wait until it is closed.
    case subscribe(id: UInt64, delaysLocks: Bool = false)
    /// Waits for a finger or a face.
    case verifyBiometry(id: UInt64)
}

/// How a client introduces itself. What it says of itself is worth as much as its process (docs/protocol.md).
package struct ClientHello: Sendable, Hashable {
    package var version: UInt32
    /// The access groups it says are its own.
    package var groups: [String]
    package var authority: Caller.Authority

    package static let currentVersion: UInt32 = 1
    /// More than any honest program holds; every search goes through them.
    package static let mostGroups = 1_000

    package init(version: UInt32 = currentVersion, groups: [String], authority: Caller.Authority) {
        self.version = version
        self.groups = groups
        self.authority = authority
    }
}

/// What is wrong with bytes that should be a message.
package enum WireFlaw: Error, Sendable {
    /// Not even whom to answer can be told: the connection ends.
    case unreadable(String)
    /// This request alone is answered with an error.
    case badRequest(id: UInt64, KeychainError)
}

extension ClientMessage {
    /// - Throws: `.dataTooLarge` for a message of more than 2 GiB. A daemon takes far less (docs/protocol.md).
    package func frame() throws(KeychainError) -> WireFrame {
        var wire = WireClientMessage()
        var secrets: [SecretBytes] = []
        switch self {
        case .hello(let hello): wire.hello = WireHello(hello)
        case .request(let id, let request):
            wire.id = id
            if case .authenticated(let proof, let request) = request {
                wire.kind = WireClientMessage.OneOf_Kind(request, &secrets)
                wire.proof = WireProof(proof, &secrets)
            } else {
                wire.kind = WireClientMessage.OneOf_Kind(request, &secrets)
            }
        case .subscribe(let id, let delaysLocks):
            wire.id = id
            wire.subscribe = WireSubscribe()
            wire.subscribe.delaysLocks = delaysLocks
        case .verifyBiometry(let id):
            wire.id = id
            wire.verifyBiometry = WireNothing()
        }
        return WireFrame(message: try wire.encoded(), secrets: secrets)
    }

    /// - Parameter tail: nil: there was none.
    package init(message: Data, tail: SecretBytes?) throws(WireFlaw) {
        guard message.importedItemCount <= ImportRequest.mostItems else {
            throw .unreadable("a request has at most \(ImportRequest.mostItems) items")
        }
        guard message.attributeValueCount <= Self.mostValues else {
            throw .unreadable("a request has at most \(Self.mostValues) values of attributes")
        }
        let wire = try WireClientMessage(decoding: message)
        if case .hello(let hello) = wire.kind {
            self = .hello(try ClientHello(hello, WireTail(tail)))
        } else {
            guard wire.id > 0 else { throw .unreadable("the message is no hello, and has no id") }
            do throws(KeychainError) {
                self = try ClientMessage(wire, WireTail(tail))
            } catch {
                throw .badRequest(id: wire.id, error)
            }
        }
    }

    /// An item has some forty attributes, and each of the items of an import may have them.
    private static let mostValues = 64 * ImportRequest.mostItems

    /// - Throws: `.unimplemented` for a request that is not known here, or what is wrong with one that is.
    private init(_ wire: WireClientMessage, _ tail: WireTail) throws(KeychainError) {
        var tail = tail
        switch wire.kind {
        case .subscribe(let subscribe) where !wire.hasProof:
            self = .subscribe(id: wire.id, delaysLocks: subscribe.delaysLocks)
        case .verifyBiometry where !wire.hasProof: self = .verifyBiometry(id: wire.id)
        case let kind?:
            let request = try Request(kind, &tail)
            self = .request(
                id: wire.id,
                wire.hasProof ? .authenticated(try AuthenticationProof(wire.proof, &tail), request) : request)
        case nil:
            throw KeychainError(
                .unimplemented,
                message:
                    "the daemon, which speaks version \(ClientHello.currentVersion) of the protocol, does not know "
                    + "this request: restart it if a newer one is installed")
        }
        try tail.requireEnd()
    }
}

extension Data {
    /// Of an encoded message, before it is decoded.
    fileprivate var importedItemCount: Int {
        // ClientMessage.import_items, ImportItems.items
        let path: [UInt64] = [20, 1]
        return withUnsafeBytes { FieldCount.count(of: path[...], in: $0) }
    }

    /// The same; 0 if there are too few bytes for too many.
    fileprivate var attributeValueCount: Int {
        if count < 64 << 10 { return 0 }
        // Add, Query of find, Query and Changes of Update, Query of delete, Item of ImportItems: where their attributes
        // are.
        let places: [[UInt64]] = [[4, 2], [5, 2], [6, 1, 2], [6, 2, 1], [7, 2], [20, 1, 3]]
        return withUnsafeBytes { bytes in
            places.reduce(0) { sum, place in
                // Attributes.texts and .datas; .numbers, of which many are one field.
                sum + FieldCount.count(of: (place + [2])[...], in: bytes)
                    + FieldCount.count(of: (place + [4])[...], in: bytes)
                    + FieldCount.count(of: (place + [6])[...], isPacked: true, in: bytes)
            }
        }
    }
}

extension WireHello {
    fileprivate init(_ hello: ClientHello) {
        self.init()
        version = hello.version
        groups = hello.groups
        authority =
            switch hello.authority {
            case .groups: .groups
            case .owner: .owner
            }
    }
}

extension ClientHello {
    fileprivate init(_ wire: WireHello, _ tail: WireTail) throws(WireFlaw) {
        guard wire.groups.count <= Self.mostGroups, !wire.groups.contains(""), tail.isAtEnd else {
            throw .unreadable("a hello has at most \(Self.mostGroups) groups, none of them empty, and no secrets")
        }
        let authority: Caller.Authority =
            switch wire.authority {
            case .groups: .groups
            case .owner: .owner
            case .UNRECOGNIZED: throw .unreadable("a hello names an authority that is not known here")
            }
        self.init(version: wire.version, groups: wire.groups, authority: authority)
    }
}
