internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire
internal import Logging

/// One client, served by the thread that calls ``serve()``: its requests are answered in their order.
final class ClientConnection {
    let socket: OpenDescriptor
    let services: Services
    /// Where it is served from, once that is known. Its thread leaves it at the end.
    private(set) var store: ServedStore?
    private let sender: FrameSender
    private let activity: Activity
    /// Why the daemon ends this connection, once it does.
    private let reasonForEnd: () -> DaemonGoodbye?
    /// The highest id of a request that was begun.
    private var lastRequest: UInt64 = 0

    init(
        _ socket: OpenDescriptor, _ services: Services, _ activity: Activity,
        reasonForEnd: @escaping () -> DaemonGoodbye?
    ) {
        self.socket = socket
        self.activity = activity
        self.reasonForEnd = reasonForEnd
        self.services = services
        sender = FrameSender(socket, limit: services.limits.sendTime)
    }

    /// Returns when the connection is of no more use.
    func serve() {
        do throws(ConnectionEnd) {
            let peer = try PeerIdentity(of: socket.number)
            let store = try services.admission.store(of: peer.evidence.uid)
            let judgement = try services.admission.judge(peer)
            // One that comes now would keep the store from being opened anew.
            if let goodbye = store.ending.goodbye { throw .goodbye(goodbye.reason, goodbye.message) }
            store.enter()
            self.store = store
            try serve(peer, judgement, store)
        } catch {
            finish(error)
        }
    }

    private func serve(
        _ peer: PeerIdentity, _ judgement: Judgement, _ store: ServedStore
    ) throws(ConnectionEnd) {
        let receiver = try FrameReceiver(socket, peer, services.limits, services.budget, activity)
        let hello = try greeting(receiver)
        if ending != nil { throw .gone }
        let engine = try asFailure { () throws(KeychainError) in try store.engine() }
        try send(.welcome(services.welcome(nonce: judgement.nonce, judgement.description(hello, peer))))
        if hello.hearsSigns { services.signs.add(sender) }
        defer { services.signs.remove(sender) }
        let caller = judgement.caller(hello, peer)
        let client = Client(
            caller: caller, peer: peer, judgement: judgement, engine: engine, store: store,
            lanes: services.gate.lanes(of: peer.process.user, caller.groups))
        try serve(client, receiver)
    }

    /// Why the daemon, or the store alone, ends; nil: it does not.
    private var ending: DaemonGoodbye? { services.ending.goodbye ?? store?.ending.goodbye }

    func send(_ message: DaemonMessage) throws(ConnectionEnd) { try sender.send(message.frame()) }

    // MARK: Beginning and end

    private func greeting(_ receiver: FrameReceiver) throws(ConnectionEnd) -> ClientHello {
        let limits = services.limits
        let frame = try receiver.next(mostBytes: limits.helloBytes, within: limits.helloTime)
        let hello: ClientHello
        switch frame.content {
        case .success(.hello(let said)): hello = said
        case .failure(.unreadable(let text)): throw .malformed(text)
        default: throw .malformed("the first message of a connection is a hello")
        }
        guard hello.version == ClientHello.currentVersion else {
            throw .goodbye(
                .unsupportedVersion,
                "this keychaind speaks version \(ClientHello.currentVersion) of the protocol, and the program "
                    + "version \(hello.version): update the older of the two")
        }
        return hello
    }

    /// Tells the client why the connection ends, if the client is there, and logs the client's faults.
    private func finish(_ end: ConnectionEnd) {
        // The end of the daemon looks like one of the client's: nothing more can be received.
        if case .gone = end, var goodbye = ending ?? reasonForEnd() {
            goodbye.lastRequest = lastRequest
            return sender.sendAtOnce(.goodbye(goodbye))
        }
        switch end {
        case .gone: return
        case .unread: services.log("a client that does not read its answers was cut off", socket)
        case .goodbye(let reason, let message):
            sender.sendAtOnce(.goodbye(DaemonGoodbye(reason, message, lastRequest: lastRequest)))
            if reason != .noStore { services.log("a client was cut off: \(message)", socket) }
        }
    }

    // MARK: Requests

    /// One that is being served.
    struct Client {
        let caller: Caller
        let peer: PeerIdentity
        let judgement: Judgement
        let engine: any ChangeSource
        let store: ServedStore
        let lanes: WorkGate.Lanes
    }

    private func serve(_ client: Client, _ receiver: FrameReceiver) throws(ConnectionEnd) {
        let limits = services.limits
        var rate = RateLimit(perSecond: limits.requestsPerSecond, burst: limits.burst, now: .now)
        var nonce = client.judgement.nonce
        while true {
            // The call owns the memory of a request: its share is given back after the call.
            var memory = WorkMemory(services, socket, of: client.peer.process.user)
            try serveNext(client, receiver, &nonce, &rate, &memory)
            memory.giveBack()
        }
    }

    private func serveNext(
        _ client: Client, _ receiver: FrameReceiver, _ nonce: inout Data, _ rate: inout RateLimit,
        _ memory: inout WorkMemory
    ) throws(ConnectionEnd) {
        let content = try receive(receiver, &nonce, &memory)
        try client.judgement.standing?.require()
        if let delay = rate.take(at: .now) { usleep(UInt32(delay / .microseconds(1))) }
        // When the daemon is to end, it begins no request that is there already.
        if ending != nil { throw .gone }
        switch content {
        case .success(.request(let id, let request)):
            try carryOut(request, id, client, &memory)
        case .success(.subscribe(let id, let delaysLocks)):
            try begin(id)
            // It has no content that takes memory, and does not end.
            memory.giveBack()
            try tellChanges(id, client, delaysLocks: delaysLocks)
        case .success(.verifyBiometry(let id)):
            try begin(id)
            memory.giveBack()
            try verifyBiometry(id, client)
        case .success(.hello): throw .malformed("a connection has one hello")
        case .failure(.badRequest(let id, let error)):
            try begin(id)
            try send(.failure(id: id, error))
        case .failure(.unreadable(let text)): throw .malformed(text)
        }
    }

    /// The next message, decoded: the bytes that it came in are gone.
    private func receive(
        _ receiver: FrameReceiver, _ nonce: inout Data, _ memory: inout WorkMemory
    ) throws(ConnectionEnd) -> Result<ClientMessage, WireFlaw> {
        let frame = try receiver.next()
        memory.begin(frame)
        if !nonce.isEmpty {
            guard ClientMessage.nonce(of: frame.message) == nonce else {
                throw .goodbye(.refused, "the first request does not repeat the nonce of the welcome")
            }
            nonce = Data()
        }
        return frame.content
    }

    private func begin(_ id: UInt64) throws(ConnectionEnd) {
        guard id > lastRequest else {
            throw .malformed("the ids of requests grow from 1, and \(id) came after \(lastRequest)")
        }
        lastRequest = id
    }

    /// The client may be given signs of life until something is sent.
    func beginSigns(_ id: UInt64) {
        sender.begin(id)
        services.signs.wake()
    }

    private func carryOut(
        _ request: Request, _ id: UInt64, _ client: Client, _ memory: inout WorkMemory
    ) throws(ConnectionEnd) {
        let former = lastRequest
        try begin(id)
        beginSigns(id)
        let work = WorkGate.Work(request, byteCount: memory.requestBytes)
        func attempt(_ mostBytes: Int, as caller: Caller) -> Result<Reply, KeychainError> {
            // A place that others want is not held while this thread waits for memory.
            services.gate.pass(work, for: client.peer.process, client.lanes) {
                Result { () throws(KeychainError) in
                    try client.engine.handle(request, from: caller, mostBytes: mostBytes)
                }
            }
        }
        var caller = client.caller
        var result = attempt(services.limits.uncountedAnswerBytes, as: caller)
        if case .failure(let error) = result, error.signal == .needsOwner {
            result = try answerWithConsent(client) { owner in
                caller = owner
                return attempt(services.limits.uncountedAnswerBytes, as: owner)
            }
        }
        // The first attempt tells how much memory the request takes. Before the second one, rows may grow by a quarter or a
        // mebibyte. The third has memory that is always enough, and so is alone.
        for isLast in [false, true] {
            guard case .failure(let error) = result, case .needsMemory(let count)? = error.signal else { break }
            let most = Limits.mostWorkBytes
            let bytes = isLast || count > most ? most : min(count + min(count / 4, 1 << 20), most)
            guard memory.take(bytes) else {
                lastRequest = former
                throw .noMemoryForAnswer
            }
            result = attempt(bytes, as: caller)
        }
        try memory.keep(for: result)
        try finish(id, former, client.store, result, memory)
        if case .giveUpStore = request.unwrapped, case .success(.done) = result { services.giveUp(client.store) }
    }

    private func finish(
        _ id: UInt64, _ former: UInt64, _ store: ServedStore, _ result: Result<Reply, KeychainError>,
        _ memory: WorkMemory
    ) throws(ConnectionEnd) {
        if case .failure(let error) = result, error.signal == .otherHost {
            // Nothing was done, and the client may ask for it where the store is now.
            lastRequest = former
            services.giveUp(store)
            throw .gone
        }
        try answer(id, result, memory)
    }

    private func answer(
        _ id: UInt64, _ result: Result<Reply, KeychainError>, _ memory: WorkMemory
    ) throws(ConnectionEnd) {
        switch result {
        case .success(let reply):
            let end = ContinuousClock.now + services.limits.answerTime
            do throws(ConnectionEnd) {
                try DaemonMessage.forEachFrame(of: reply, id: id) { (frame) throws(ConnectionEnd) in
                    guard ContinuousClock.now < end else { throw .unread }
                    try sender.send(frame) { memory.note($0) }
                }
            } catch {
                throw memory.wasCutOff ? .unread : error
            }
        case .failure(let error): try send(.failure(id: id, error))
        }
    }
}

extension Request {
    /// The request without the proof that comes with it.
    fileprivate var unwrapped: Request {
        if case .authenticated(_, let request) = self { request } else { self }
    }
}

extension ReceivedFrame {
    fileprivate var content: Result<ClientMessage, WireFlaw> {
        Result { () throws(WireFlaw) in try ClientMessage(message: message, tail: tail) }
    }
}
