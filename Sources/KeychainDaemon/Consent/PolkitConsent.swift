internal import KeychainBus
internal import KeychainModel
internal import KeychainSystem

/// The consent that polkit asks for, by the agent of the person's session or of the terminal: the person's own password.
/// Packaging/polkit has the action, and says which account of a daemon may ask about the processes of others.
struct PolkitConsent: OwnerConsent {
    static let action = "swift-keychain.own"

    private static let name = "org.freedesktop.PolicyKit1"

    var busAddress = SystemBus.systemAddress
    /// For an answer of the bus, or of polkit, which may have to start first.
    var answerTime = Duration.seconds(8)
    /// For the person.
    var personTime = Duration.seconds(300)

    func ask(for process: ConsentingProcess, _ cancellation: Cancellation) throws(KeychainError) {
        let wakeup = try EventDescriptor.make()
        let answer = try cancellation.withHandler({ wakeup.set() }) { () throws(KeychainError) in
            try check(process, wakeup)
        }
        // Two flags, and pairs of texts.
        guard answer.count >= 2, let isGiven = answer[0].number, let couldBeGiven = answer[1].number else {
            throw .noConsent("polkit gave an answer that is none")
        }
        if isGiven == 1 { return }
        if answer.dropFirst(2).first?.text == "polkit.dismissed" { throw .dismissed }
        if couldBeGiven == 1 {
            throw KeychainError(
                .interactionNotAllowed,
                message: "this is for the owner of the keychain, whom nothing can ask here: polkit has no agent in "
                    + "this session (start pkttyagent, or set a passcode)")
        }
        throw KeychainError(
            .authenticationFailed, message: "this is for the owner of the keychain, and polkit does not allow it")
    }

    private func check(
        _ process: ConsentingProcess, _ wakeup: EventDescriptor
    ) throws(KeychainError) -> [BusMessage.Value] {
        let bus: BusConversation
        do throws(BusFailure) {
            bus = try BusConversation(busAddress, wakeup)
        } catch {
            throw .noConsent("the system's message bus cannot be reached: \(error.text)")
        }
        do throws(CallFailure) {
            // Starts it.
            let ping = BusMethod(
                destination: Self.name, path: "/", interface: "org.freedesktop.DBus.Peer", member: "Ping")
            _ = try bus.call(ping, [], for: answerTime)
            let owner = try bus.call(.ofBus("GetNameOwner"), [Self.name], for: answerTime)
            guard let polkit = owner.first?.text else { throw CallFailure.noAnswer }
            // When this connection ends, polkit asks no longer.
            return try bus.call(
                AuthorizationCheck(
                    destination: polkit, action: Self.action, process: process.pid, start: process.start,
                    user: process.uid), for: personTime)
        } catch {
            switch error {
            case .cancelled: throw .dismissed
            case .noAnswer: throw .noConsent("polkit does not answer")
            case .lost(let failure), .refused(let failure): throw .noConsent("polkit: \(failure.text)")
            }
        }
    }
}

extension KeychainError {
    fileprivate static let dismissed = KeychainError(
        .userCancelled, message: "the owner of the keychain was asked, and did not consent")

    fileprivate static func noConsent(_ reason: String) -> KeychainError {
        KeychainError(
            .missingEntitlement,
            message: "this is for the owner of the keychain, who cannot be asked (\(reason)): set a passcode, which "
                + "shows who the owner is, or install polkit")
    }
}
