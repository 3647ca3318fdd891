package import FoundationEssentials
package import KeychainModel

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

/// The introduction of a client. Its claims are worth as much as its process (docs/protocol.md).
package struct ClientHello: Sendable, Hashable {
    package var version: UInt32
    /// The access groups that the client claims.
    package var groups: [String]
    package var authority: Caller.Authority
    /// Whether it understands signs of life. An older client takes them for a mistake.
    package var hearsSigns: Bool

    package static let currentVersion: UInt32 = 1
    /// More than any honest program holds; every search goes through them.
    package static let mostGroups = 1_000

    package init(
        version: UInt32 = currentVersion, groups: [String], authority: Caller.Authority, hearsSigns: Bool = false
    ) {
        self.version = version
        self.groups = groups
        self.authority = authority
        self.hearsSigns = hearsSigns
    }
}

/// The fault of bytes that should be a message.
package enum WireFlaw: Error, Sendable {
    /// The request's id cannot be read: the connection ends without an answer.
    case unreadable(String)
    /// This request alone is answered with an error.
    case badRequest(id: UInt64, KeychainError)
}

extension ClientMessage {
    /// The field of a message that says of which kind it is, and holds the rest.
    enum Kind: Int {
        case hello = 2
        case subscribe, add, find, update, delete, status, check, lockStatus, unlock, lock, setPasscode, changePasscode,
            removePasscode, setPolicy, rekeyStep, renewLease, exportItems, importItems, giveUpStore, makeFileKey,
            openFileKey, rewrapFileKey, authenticationStatus, endTicket, verifyBiometry
        case adoptFileKey = 29
        case backUpFileKeys, compact, transaction, removeExpired, makeKey, useKey, expiredItems, resolve
        case removeMoved = 39
    }

    private static let idNumber = 1
    private static let proofNumber = 28
    private static let nonceNumber = 38

    /// - Parameter nonce: That of the welcome, in the first message after it.
    /// - Throws: `.dataTooLarge` for a message of more than 2 GiB. A daemon takes far less (docs/protocol.md).
    package func frame(nonce: Data = Data()) throws(KeychainError) -> WireFrame {
        var message = MessageWriter()
        var nonce = nonce
        /// The nonce goes before a kind with a higher number.
        func begin(_ kind: Kind) {
            guard kind.rawValue > Self.nonceNumber else { return }
            message.add(Self.nonceNumber, nonce)
            nonce = Data()
        }
        switch self {
        case .hello(let hello): message.add(Kind.hello.rawValue) { hello.write(to: &$0) }
        case .request(let id, let request):
            message.add(Self.idNumber, id)
            if case .authenticated(let proof, let request) = request {
                let isProofFirst = request.kind.rawValue > Self.proofNumber
                if isProofFirst { message.add(Self.proofNumber, message: proof) }
                begin(request.kind)
                message.add(request.kind.rawValue) { request.write(to: &$0) }
                if !isProofFirst { message.add(Self.proofNumber, message: proof) }
            } else {
                begin(request.kind)
                message.add(request.kind.rawValue) { request.write(to: &$0) }
            }
        case .subscribe(let id, let delaysLocks):
            message.add(Self.idNumber, id)
            message.add(Kind.subscribe.rawValue) { $0.add(1, delaysLocks) }
        case .verifyBiometry(let id):
            message.add(Self.idNumber, id)
            message.add(Kind.verifyBiometry.rawValue)
        }
        message.add(Self.nonceNumber, nonce)
        return try WireFrame(message)
    }

    /// The nonce that a message repeats; empty: none, or the bytes are no message.
    package static func nonce(of message: some ContiguousBytes) -> Data {
        message.withUnsafeBytes { bytes in
            let nonce: Data?? = try? MessageReader(bytes).value(nonceNumber)
            return (nonce ?? nil) ?? Data()
        }
    }

    /// - Parameter tail: nil: there was none.
    package init(message: some ContiguousBytes, tail: SecretBytes?) throws(WireFlaw) {
        self = try message.read { bytes throws(WireFlaw) in
            let (message, id) = try Self.outermost(bytes)
            let tail = WireTail(tail)
            let kind: Kind? = message.kind()
            if kind == .hello { return .hello(try ClientHello(in: message, tail)) }
            guard id > 0 else { throw .unreadable("the message is no hello, and has no id") }
            do throws(KeychainError) {
                guard let kind, let content: MessageReader = try message.value(kind.rawValue) else {
                    throw .unknownRequest
                }
                return try ClientMessage(id, kind, content, try message.value(Self.proofNumber), tail)
            } catch {
                throw .badRequest(id: id, error)
            }
        }
    }

    private static func outermost(_ bytes: UnsafeRawBufferPointer) throws(WireFlaw) -> (MessageReader, id: UInt64) {
        do throws(KeychainError) {
            let message = try MessageReader(bytes)
            return (message, try message.value(idNumber) ?? 0)
        } catch {
            throw .unreadable(error.message)
        }
    }

    private init(
        _ id: UInt64, _ kind: Kind, _ content: MessageReader, _ proof: MessageReader?, _ tail: WireTail
    ) throws(KeychainError) {
        var tail = tail
        switch kind {
        case .subscribe where proof == nil: self = .subscribe(id: id, delaysLocks: try content.value(1) ?? false)
        case .verifyBiometry where proof == nil: self = .verifyBiometry(id: id)
        default:
            // Secrets are in the tail in the order of the fields' numbers.
            let isProofFirst = kind.rawValue > Self.proofNumber
            var shown = isProofFirst ? try AuthenticationProof(ifAny: proof, &tail) : nil
            let request = try Request(kind, content, &tail)
            if !isProofFirst { shown = try AuthenticationProof(ifAny: proof, &tail) }
            self = .request(id: id, shown.map { .authenticated($0, request) } ?? request)
        }
        try tail.requireEnd()
    }
}

extension AuthenticationProof {
    fileprivate init?(ifAny message: MessageReader?, _ tail: inout WireTail) throws(KeychainError) {
        guard let message else { return nil }
        try self.init(message, &tail)
    }
}

extension KeychainError {
    fileprivate static var unknownRequest: KeychainError {
        KeychainError(
            .unimplemented,
            message:
                "the daemon, which speaks version \(ClientHello.currentVersion) of the protocol, does not know this "
                + "request: restart it if a newer one is installed")
    }
}

extension ClientHello {
    fileprivate func write(to message: inout MessageWriter) {
        message.add(1, version)
        message.add(2, each: groups)
        message.add(3, authority)
        message.add(4, hearsSigns)
    }

    fileprivate init(in message: MessageReader, _ tail: WireTail) throws(WireFlaw) {
        do throws(KeychainError) {
            let hello: MessageReader = try required("hello", message.value(ClientMessage.Kind.hello.rawValue))
            self.init(
                version: try hello.value(1) ?? 0, groups: try hello.list(2, most: Self.mostGroups, "groups"),
                authority: try hello.value(3) ?? .groups, hearsSigns: try hello.value(4) ?? false)
        } catch {
            throw .unreadable(error.message)
        }
        guard !groups.contains(""), tail.isAtEnd else {
            throw .unreadable("no group of a hello is empty, and it has no secrets")
        }
    }
}
