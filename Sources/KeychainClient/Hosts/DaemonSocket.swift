internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainWire

/// The reasons for which a request has no answer.
enum CallFailure: Error {
    /// The daemon has not begun it, and never will.
    case neverBegun(KeychainError)
    /// The request may have been carried out or not.
    case unknownOutcome(KeychainError)
    /// The daemon has not begun it, and would not if it were sent again.
    case refused(KeychainError)
}

/// One connection to a daemon, used by one thread at a time: a request goes out, its answer comes back.
final class DaemonSocket: @unchecked Sendable {  // the carrier gives it to one thread at a time
    let caller: Caller
    let welcome: DaemonWelcome
    private let stream: FrameStream
    private let patience: Patience
    private var lastRequest: UInt64 = 0
    /// The welcome's, until a message has repeated it.
    private var nonce: Data
    /// Whether the connection is of no more use.
    private(set) var isOver = false

    /// Connects, and introduces this process.
    ///
    /// - Throws: `.notAvailable` if no daemon answers, or the daemon's own reason to refuse.
    init(_ address: DaemonAddress, as caller: Caller, _ patience: Patience) throws(KeychainError) {
        let stream = FrameStream(try address.connect(patience), patience)
        self.stream = stream
        self.caller = caller
        self.patience = patience
        let said = ClientHello(groups: caller.groups, authority: caller.authority, hearsSigns: true)
        let hello = try ClientMessage.hello(said).frame()
        let answer = Self.outcome { () throws(FrameStream.Failure) in
            // A daemon that has no place says so without waiting for a hello.
            let sent = Self.outcome { () throws(FrameStream.Failure) in try stream.send(hello) }
            if case .failure(let failure) = sent, try !stream.waitForInput(until: .now) { throw failure }
            return try stream.receive()
        }
        switch answer {
        case .success(.welcome(let welcome)):
            guard welcome.version == ClientHello.currentVersion else { throw .foreignVersion(welcome.version, address) }
            // A daemon that goes by evidence would take this process for another program.
            if welcome.isBySystem, let lost = LostGroup.ofProcess { throw lost.refusal }
            self.welcome = welcome
            nonce = welcome.nonce
            if !welcome.givesSigns { stream.mostSilentParts = patience.partsWithoutSigns }
        case .success(.goodbye(let goodbye)): throw KeychainError(goodbye)
        case .success: throw .strangeAnswer(of: address)
        case .failure(let failure): throw failure.error(address)
        }
    }

    private static func outcome<R>(
        _ body: () throws(FrameStream.Failure) -> R
    ) -> Result<R, FrameStream.Failure> {
        Result { () throws(FrameStream.Failure) in try body() }
    }

    // MARK: Requests

    /// Sends a request and waits for the whole of its answer.
    ///
    /// - Returns: the daemon's answer, an error too; or the reason why the request cannot be sent to it.
    /// - Throws: if it did not answer. The connection is over then.
    func answer(to request: Request, _ address: DaemonAddress) throws(CallFailure) -> Result<Reply, KeychainError> {
        lastRequest += 1
        let frame: WireFrame
        switch framed(.request(id: lastRequest, request)) {
        case .success(let made): frame = made
        case .failure(let error): return .failure(error)
        }
        if case .failure(let failure) = send(frame) {
            isOver = true
            throw unsent(failure, address)
        }
        var answer = PartedReply(to: request)
        var signCount = 0
        while true {
            switch Self.outcome({ () throws(FrameStream.Failure) in try stream.receive() }) {
            case .success(.reply(lastRequest, let part, let isLast)):
                do throws(KeychainError) {
                    if let whole = try answer.adding(part, isLast: isLast, address) { return .success(whole) }
                } catch {
                    isOver = true
                    throw .unknownOutcome(error)
                }
            case .success(.failure(lastRequest, let error)):
                return .failure(error)
            case .success(.working(lastRequest)):
                signCount += 1
                if patience.goesOn(afterSigns: signCount) { continue }
                isOver = true
                throw .unknownOutcome(.endless(address))
            case .success(.goodbye(let goodbye)):
                isOver = true
                throw ended(goodbye)
            case .success:
                isOver = true
                throw .unknownOutcome(.strangeAnswer(of: address))
            case .failure(let failure):
                isOver = true
                throw .unknownOutcome(failure.error(address))
            }
        }
    }

    private func send(_ frame: WireFrame) -> Result<Void, FrameStream.Failure> {
        nonce = Data()
        return Self.outcome { () throws(FrameStream.Failure) in try stream.send(frame) }
    }

    private func framed(_ message: ClientMessage) -> Result<WireFrame, KeychainError> {
        Result { () throws(KeychainError) in
            let frame = try message.frame(nonce: nonce)
            let size = frame.header
            guard size.contentCount <= WireHeader.mostBytes else {
                throw KeychainError(
                    .dataTooLarge,
                    message: "a request to keychaind has at most \(WireHeader.mostBytes >> 20) MiB, and this one more")
            }
            return frame
        }
    }

    /// The failure of a request that could not be sent as a whole.
    private func unsent(_ failure: FrameStream.Failure, _ address: DaemonAddress) -> CallFailure {
        // A request that is not whole is never begun: the daemon reads all of it first. Before it ended the connection
        // it may have said why.
        let last = Self.outcome { () throws(FrameStream.Failure) -> DaemonMessage? in
            try stream.waitForInput(until: .now) ? try stream.receive() : nil
        }
        if case .success(.goodbye(let goodbye)) = last { return ended(goodbye) }
        return .neverBegun(failure.error(address))
    }

    private func ended(_ goodbye: DaemonGoodbye) -> CallFailure {
        let error = KeychainError(goodbye)
        guard goodbye.lastRequest < lastRequest else { return .unknownOutcome(error) }
        switch goodbye.reason {
        // The daemon would answer another attempt alike.
        case .malformed, .unsupportedVersion, .refused: return .refused(error)
        case .shuttingDown, .tooSlow, .tooManyConnections, .storeGivenUp, .noStore: return .neverBegun(error)
        }
    }

    // MARK: Biometry

    /// Waits like ``RequestHandler/verifyBiometry(for:_:hint:)``. Signs of life are not counted: the daemon's reader
    /// has a limit.
    func verifyBiometry(
        _ address: DaemonAddress, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket {
        lastRequest += 1
        do throws(KeychainError) {
            let frame = try ClientMessage.verifyBiometry(id: lastRequest).frame(nonce: nonce)
            if case .failure(let failure) = send(frame) { throw failure.error(address) }
        } catch {
            throw .failed(error.message)
        }
        while true {
            switch Self.outcome({ () throws(FrameStream.Failure) in try stream.receive() }) {
            case .success(.biometryHint(lastRequest, let told)): hint(told)
            case .success(.working(lastRequest)): continue
            case .success(.biometry(lastRequest, let answer)): return try answer.get()
            case .success(.failure(lastRequest, let error)): throw .failed(error.message)
            case .success(.goodbye(let goodbye)): throw .failed(goodbye.message)
            case .success: throw .failed(KeychainError.strangeAnswer(of: address).message)
            case .failure(let failure): throw .failed(failure.error(address).message)
            }
        }
    }

    /// Ends the wait of another thread.
    func shutDown() { stream.shutDown() }

    // MARK: Changes

    /// From now on the connection only listens.
    ///
    /// - Parameter delaysLocks: Whether locks with notice wait until it is closed.
    func subscribe(_ address: DaemonAddress, delaysLocks: Bool) throws(KeychainError) {
        lastRequest += 1
        let frame = try ClientMessage.subscribe(id: lastRequest, delaysLocks: delaysLocks).frame(nonce: nonce)
        if case .failure(let failure) = send(frame) {
            isOver = true
            throw failure.error(address)
        }
    }

    /// Returns when the daemon has begun to tell: it says how the lock is before anything else, and every change after that.
    func awaitFirst(_ address: DaemonAddress) throws(KeychainError) -> LockStatus {
        guard case .lock(let status)? = try nextChange(until: .now + patience.time(of: patience.parts), address) else {
            throw KeychainError(.notAvailable, message: "the keychaind at \(address.path) does not tell of its lock")
        }
        return status
    }

    /// The next thing that has changed; nil if nothing does until then.
    func nextChange(
        until end: ContinuousClock.Instant, _ address: DaemonAddress
    ) throws(KeychainError) -> StoreChange? {
        let message = Self.outcome { () throws(FrameStream.Failure) -> DaemonMessage? in
            guard try stream.waitForInput(until: end) else { return nil }
            return try stream.receive()
        }
        switch message {
        case .success(nil): return nil
        case .success(.event(lastRequest, let change)): return change
        case .success(.failure(lastRequest, let error)): throw error
        case .success(.goodbye(let goodbye)):
            isOver = true
            throw KeychainError(goodbye)
        case .success:
            isOver = true
            throw .strangeAnswer(of: address)
        case .failure(let failure):
            isOver = true
            throw failure.error(address)
        }
    }
}

extension FrameStream.Failure {
    fileprivate func error(_ address: DaemonAddress) -> KeychainError {
        switch self {
        case .closed:
            KeychainError(.notAvailable, message: "the keychaind at \(address.path) ended: \(address.advice)")
        case .system(let number):
            KeychainError(
                .notAvailable,
                message: "the connection to keychaind failed (\(String(cString: strerror(number))))")
        case .late(let time): address.isSilent(for: time)
        case .malformed(let what):
            KeychainError(
                .notAvailable,
                message: "the keychaind at \(address.path) sent what this program does not understand (\(what)): "
                    + "update the older of the two")
        }
    }
}

extension KeychainError {
    fileprivate init(_ goodbye: DaemonGoodbye) {
        self.init(.notAvailable, message: goodbye.message)
        switch goodbye.reason {
        case .storeGivenUp: signal = .otherHost
        case .tooManyConnections:
            signal = .noPlace(isLocked: goodbye.isLocked, hasNoPasscode: goodbye.hasNoPasscode)
        default: break
        }
    }

    fileprivate static func endless(_ address: DaemonAddress) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "the keychaind at \(address.path) runs, and does not finish what it was asked: it may wait for a "
                + "disk",
            signal: .unfinished)
    }

    fileprivate static func foreignVersion(_ version: UInt32, _ address: DaemonAddress) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "the keychaind at \(address.path) speaks version \(version) of the protocol, and this program "
                + "version \(ClientHello.currentVersion): update the older of the two")
    }

    static func strangeAnswer(of address: DaemonAddress) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "what listens at \(address.path) answered something else than was asked: is it keychaind?")
    }
}
