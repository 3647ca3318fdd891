package import FoundationEssentials
package import KeychainModel

package enum DaemonMessage: Sendable {
    /// The answer to a hello.
    case welcome(DaemonWelcome)
    /// A part of the answer to a request; more follow unless it is the last.
    case reply(id: UInt64, Reply, isLast: Bool)
    case failure(id: UInt64, KeychainError)
    /// The daemon runs, and the request is worked on or waits for its turn. The signs go to clients whose hello asks
    /// for them.
    case working(id: UInt64)
    /// To a connection that subscribed, under the id of its subscription.
    case event(id: UInt64, StoreChange)
    /// The result of waiting for a finger or a face.
    case biometry(id: UInt64, Result<BiometryTicket, BiometryFailure>)
    /// The words for the person, before the result.
    case biometryHint(id: UInt64, BiometryHint)
    /// The last message of a connection that the daemon ends.
    case goodbye(DaemonGoodbye)
}

package struct DaemonWelcome: Sendable, Hashable {
    package var version: UInt32
    /// Drawn anew by each start of the daemon.
    package var instance: UUID
    package var processID: Int32
    /// The version of the software, for a person.
    package var release: String
    /// Whether a request that takes long is told of by signs of life.
    package var givesSigns: Bool
    /// The first request of the connection repeats it. Empty: the daemon wants none.
    package var nonce: Data
    /// The client as the daemon knows it; nil: an older daemon does not say.
    package var caller: CallerDescription?

    /// Whether the daemon goes by the kernel's evidence, and not by the client's word.
    package var isBySystem: Bool { !nonce.isEmpty }

    package init(
        version: UInt32 = ClientHello.currentVersion, instance: UUID, processID: Int32, release: String,
        givesSigns: Bool = false, nonce: Data = Data(), caller: CallerDescription? = nil
    ) {
        self.version = version
        self.instance = instance
        self.processID = processID
        self.release = release
        self.givesSigns = givesSigns
        self.nonce = nonce
        self.caller = caller
    }
}

/// The reasons why a daemon ends a connection.
package struct DaemonGoodbye: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        case shuttingDown
        /// The client sent no message, or one that it may not send now.
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
    /// The fault and the remedy, for a person.
    package var message: String
    /// The highest id of a request that was begun; every later one was never seen. 0: none was.
    package var lastRequest: UInt64
    /// The state of the keychain, for a client that has no place, and would lock it.
    package var isLocked: Bool
    /// For the same client: no passcode is set, so that nothing can be locked.
    package var hasNoPasscode: Bool

    package init(
        _ reason: Reason, _ message: String, lastRequest: UInt64 = 0, isLocked: Bool = false,
        hasNoPasscode: Bool = false
    ) {
        self.reason = reason
        self.message = message
        self.lastRequest = lastRequest
        self.isLocked = isLocked
        self.hasNoPasscode = hasNoPasscode
    }
}

extension DaemonMessage {
    /// The field of a message that says of which kind it is, and holds the rest.
    enum Kind: Int {
        case welcome = 4
        case goodbye, failure, lockEvent, itemEvent, added, found, done, status, checked, lockStatus, rekeyed, exported,
            imported, fileKey, authenticationStatus, authenticationNeeded, biometry, biometryHint, fileKeyBackup,
            deleted, committed, expired, keyResult, working, resolved
    }

    private static let idNumber = 1
    private static let moreNumber = 2
    private static let itemsNumber = 3
    /// The most items of one message. A part of an answer has 4,096 at most (``forEachFrame(of:id:limit:_:)``).
    private static let mostItems = 16_384

    /// A reply of more than 2 GiB becomes the failure that says so.
    package func frame() -> WireFrame {
        do throws(KeychainError) {
            var message = MessageWriter()
            write(to: &message)
            return try WireFrame(message)
        } catch {
            guard case .reply(let id, _, _) = self else { preconditionFailure("\(error)") }
            let failure = KeychainError(.dataTooLarge, message: "the answer has more than 2 GiB: ask for fewer items")
            return DaemonMessage.failure(id: id, failure).frame()
        }
    }

    private func write(to message: inout MessageWriter) {
        func add(_ kind: Kind, id: UInt64? = nil, _ content: some WireMessage) {
            if let id { message.add(Self.idNumber, id) }
            message.add(kind.rawValue, message: content)
        }
        switch self {
        case .welcome(let welcome): add(.welcome, welcome)
        case .goodbye(let goodbye): add(.goodbye, goodbye)
        case .failure(let id, let error): add(.failure, id: id, error)
        case .working(let id):
            message.add(Self.idNumber, id)
            message.add(Kind.working.rawValue)
        case .event(let id, .lock(let status)): add(.lockEvent, id: id, status)
        case .event(let id, .items(let itemClass, let group)):
            add(.itemEvent, id: id, ItemEvent(itemClass: itemClass, accessGroup: group))
        case .biometry(let id, let answer): add(.biometry, id: id, answer)
        case .biometryHint(let id, let hint): add(.biometryHint, id: id, hint)
        case .reply(let id, let reply, let isLast):
            message.add(Self.idNumber, id)
            message.add(Self.moreNumber, !isLast)
            for item in reply.items { message.add(Self.itemsNumber, message: item) }
            message.add(reply.kind.rawValue) { reply.write(to: &$0) }
        }
    }

    /// - Parameter tail: nil: there was none.
    package init(message: some ContiguousBytes, tail: SecretBytes?) throws(WireFlaw) {
        do throws(KeychainError) {
            self = try message.read { bytes throws(KeychainError) in
                var tail = WireTail(tail)
                let message = try DaemonMessage(try MessageReader(bytes), &tail)
                try tail.requireEnd()
                return message
            }
        } catch {
            throw .unreadable(error.message)
        }
    }

    private init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let id: UInt64 = try message.value(Self.idNumber) ?? 0
        let items: [Item] = try message.list(Self.itemsNumber, &tail, most: Self.mostItems, "items")
        guard let kind: Kind = message.kind(), let content: MessageReader = try message.value(kind.rawValue) else {
            throw KeychainError(.parameter, message: "the message is of a kind that is not known here")
        }
        guard id > 0 || kind == .welcome || kind == .goodbye else {
            throw KeychainError(.parameter, message: "the message names no request")
        }
        switch kind {
        case .welcome: self = .welcome(try DaemonWelcome(content, &tail))
        case .goodbye: self = .goodbye(try DaemonGoodbye(content, &tail))
        case .failure: self = .failure(id: id, try KeychainError(content, &tail))
        case .working: self = .working(id: id)
        case .lockEvent: self = .event(id: id, .lock(try LockStatus(content, &tail)))
        case .itemEvent:
            let event = try ItemEvent(content, &tail)
            self = .event(id: id, .items(event.itemClass, accessGroup: event.accessGroup))
        case .biometry: self = .biometry(id: id, try Result<BiometryTicket, BiometryFailure>(content, &tail))
        case .biometryHint: self = .biometryHint(id: id, try BiometryHint(content, &tail))
        default:
            self = .reply(
                id: id, try Reply(kind, content, items, &tail), isLast: !(try message.value(Self.moreNumber) ?? false))
        }
    }
}

extension DaemonWelcome: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, version)
        message.add(2, instance)
        message.add(3, processID)
        message.add(4, release)
        message.add(5, givesSigns)
        message.add(6, nonce)
        if let caller { message.add(7, message: caller) }
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            version: try message.value(1) ?? 0, instance: try required("instance", message.value(2)),
            processID: try message.value(3) ?? 0, release: try message.shownText(4),
            givesSigns: try message.value(5) ?? false, nonce: try message.value(6) ?? Data(),
            caller: try CallerDescription(ifAny: message.value(7), &tail))
    }
}

extension CallerDescription: WireMessage {
    /// More than any daemon says.
    private static let mostEvidence = 100

    func write(to message: inout MessageWriter) {
        message.add(1, kind)
        message.add(2, ifAny: name)
        message.add(3, each: groups)
        message.add(4, each: evidence)
        message.add(5, pid)
        message.add(6, uid)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            kind: try required(message.value(1)), name: try message.value(2),
            groups: try message.list(3, most: ClientHello.mostGroups, "groups"),
            evidence: try message.list(4, most: Self.mostEvidence, "facts"), pid: try message.value(5) ?? 0,
            uid: try message.value(6) ?? 0)
    }

    fileprivate init?(ifAny message: MessageReader?, _ tail: inout WireTail) throws(KeychainError) {
        guard let message else { return nil }
        try self.init(message, &tail)
    }
}

extension DaemonGoodbye: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, reason)
        message.add(2, self.message)
        message.add(3, lastRequest)
        message.add(4, isLocked)
        message.add(5, hasNoPasscode)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            try required(message.value(1)), try message.shownText(2), lastRequest: try message.value(3) ?? 0,
            isLocked: try message.value(4) ?? false, hasNoPasscode: try message.value(5) ?? false)
    }
}

extension KeychainError: WireMessage {
    /// Neither the cause nor the place in the source goes to another process.
    func write(to message: inout MessageWriter) {
        message.add(1, SignedNumber(Int64(code.status)))
        message.add(2, self.message)
        message.add(3, signal == .damage)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        // As sint32 has it: of a larger number the lowest bits.
        let status = Int32(truncatingIfNeeded: (try message.value(1) ?? SignedNumber(0)).value)
        // A status of 0 would be a success to callers.
        guard status != 0 else { throw KeychainError(.parameter, message: "a failure has no status") }
        self.init(Code(status: status), message: try message.shownText(2))
        if try message.value(3) ?? false { signal = .damage }
    }
}

private struct ItemEvent: WireMessage {
    let itemClass: ItemClass
    let accessGroup: String

    init(itemClass: ItemClass, accessGroup: String) {
        self.itemClass = itemClass
        self.accessGroup = accessGroup
    }

    func write(to message: inout MessageWriter) {
        message.add(1, itemClass)
        message.add(2, accessGroup)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        itemClass = try required(message.value(1))
        accessGroup = try message.value(2) ?? ""
    }
}
