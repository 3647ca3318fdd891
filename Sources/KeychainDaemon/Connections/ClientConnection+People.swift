internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

extension ClientConnection {
    /// Waits at the reader for an enrolled person, as long as the client waits for the answer.
    func verifyBiometry(_ id: UInt64, _ client: Client) throws(ConnectionEnd) {
        var lost: ConnectionEnd?
        beginSigns(id)
        let answer: Result<BiometryTicket, BiometryFailure>
        do throws(KeychainError) {
            answer = try untilHangUp(client, .finger) { cancellation in
                Result { () throws(BiometryFailure) in
                    try client.engine.verifyBiometry(for: client.caller, cancellation) { hint in
                        // The reader is left alone by the cancellation; what became of the connection is told
                        // afterwards.
                        do throws(ConnectionEnd) {
                            try send(.biometryHint(id: id, hint))
                            beginSigns(id)
                        } catch {
                            lost = error
                            cancellation.cancel()
                        }
                    }
                }
            }
        } catch {
            return try send(.failure(id: id, error))
        }
        if let lost { throw lost }
        try send(.biometry(id: id, answer))
    }

    /// The answer to a request of a client that is no owner, and needs one: that of the same request after the owner's
    /// consent.
    ///
    /// - Throws: the end of the connection, if the process is not what it was before the question.
    func answerWithConsent(
        _ client: Client, _ answer: (Caller) -> Result<Reply, KeychainError>
    ) throws(ConnectionEnd) -> Result<Reply, KeychainError> {
        guard let process = ConsentingProcess(pid: client.peer.evidence.pid, uid: client.peer.evidence.uid),
            client.peer.isAlive
        else { throw .gone }
        do throws(KeychainError) {
            try untilHangUp(client, .consent) { cancellation in
                Result { () throws(KeychainError) in try services.consent.ask(for: process, cancellation) }
            }.get()
        } catch {
            return .failure(error)
        }
        guard client.peer.isAlive else { throw .gone }
        try client.judgement.standing?.require()
        var owner = client.caller
        owner.authority = .owner
        return answer(owner)
    }

    /// Runs `body`, which waits for a person, and cancels it when the client hangs up or loses its place.
    private func untilHangUp<R>(
        _ client: Client, _ kind: PeopleAsked.Kind, _ body: (Cancellation) -> R
    ) throws(KeychainError) -> R {
        let user = client.peer.process.user
        guard services.people.begin(kind, user) else {
            throw KeychainError(
                .interactionNotAllowed, message: "the person is being asked for something already: try again later")
        }
        defer { services.people.end(kind, user) }
        let cancellation = Cancellation()
        let isAnswered = try EventDescriptor.make()
        try WorkerThread.start("hang-up") { [socket] in
            if Self.waitForHangUp(of: socket, or: isAnswered) { cancellation.cancel() }
        }
        defer { isAnswered.set() }
        return body(cancellation)
    }

    /// POLLRDHUP (poll(2)), the same on every machine that Swift runs on.
    private static let readHangUp: Int16 = 0x2000

    /// - Returns: false if the answer came first.
    private static func waitForHangUp(of socket: OpenDescriptor, or isAnswered: EventDescriptor) -> Bool {
        var waiting = [
            // A hang-up is told in any case, and the end of this connection's place looks like one of the client's.
            pollfd(fd: socket.number, events: Self.readHangUp, revents: 0),
            pollfd(fd: isAnswered.number, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, 2, -1) < 0 {}  // a signal came
        return waiting[1].revents == 0
    }
}
