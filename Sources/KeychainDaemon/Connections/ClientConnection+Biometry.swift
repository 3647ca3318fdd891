internal import Glibc
internal import KeychainBus
internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

extension ClientConnection {
    /// Waits at the reader for an enrolled person, as long as the client waits for the answer.
    func verifyBiometry(_ id: UInt64, _ caller: Caller, _ engine: any ChangeSource) throws(ConnectionEnd) {
        let cancellation = Cancellation()
        let isAnswered: EventDescriptor
        do throws(KeychainError) {
            isAnswered = try EventDescriptor.make()
            try WorkerThread.start("hang-up") { [socket] in
                if Self.waitForHangUp(of: socket, or: isAnswered) { cancellation.cancel() }
            }
        } catch {
            return try send(.failure(id: id, error))
        }
        var lost: ConnectionEnd?
        beginSigns(id)
        let answer = Result { () throws(BiometryFailure) in
            defer { isAnswered.set() }
            return try engine.verifyBiometry(for: caller, cancellation) { hint in
                // The reader is left alone by the cancellation; what became of the connection is told afterwards.
                do throws(ConnectionEnd) {
                    try send(.biometryHint(id: id, hint))
                    beginSigns(id)
                } catch {
                    lost = error
                    cancellation.cancel()
                }
            }
        }
        if let lost { throw lost }
        try send(.biometry(id: id, answer))
    }

    /// - Returns: false if the answer came first.
    private static func waitForHangUp(of socket: OpenDescriptor, or isAnswered: EventDescriptor) -> Bool {
        var waiting = [
            pollfd(fd: socket.number, events: 0, revents: 0),  // a hang-up is told in any case
            pollfd(fd: isAnswered.number, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, 2, -1) < 0 {}  // a signal came
        return waiting[1].revents == 0
    }
}
