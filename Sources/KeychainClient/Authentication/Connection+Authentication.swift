package import KeychainModel

extension Connection {
    /// Apple's keychain gives up after so many rounds of questions for one call.
    private static let mostRounds = 20
    /// How often a wrong passcode may be typed in one call.
    private static let mostMistakes = 3

    /// Sends a request, asks the person for the proof that is missing, and sends the request again with it.
    ///
    /// Blocks its thread for as long as the person takes.
    ///
    /// - Throws: The errors of ``perform(_:)``; `.userCancelled` if the person declines; `.taskCancelled`;
    ///   `.interactionNotAllowed` if no person can be asked; `.authenticationFailed` for every other reason for which the
    ///   proof is missing.
    func performAsking(_ request: Request, _ asking: Asking) throws(KeychainError) -> Reply {
        let (mayAsk, cancellation) = (asking.mayAsk, asking.cancellation)
        // Made when it is asked for something: most calls never are.
        var session = asking.session
        // The session's proofs are sent only when they are asked for: a passcode costs, and counts if it is wrong.
        var used = mayAsk ? [] : session?.factors ?? []
        var question = AuthenticationDialog.Question(choosesPassword: request.storesItem)
        var typed: Set<AuthenticationFactor> = []
        var mistakes = 0
        for _ in 0..<Self.mostRounds {
            if cancellation?.isCancelled == true { throw .cancelledCall }
            let proof = session?.proof(of: used) ?? AuthenticationProof()
            do throws(KeychainError) {
                let reply = try perform(proof.isEmpty ? request : .authenticated(proof, request))
                guard case .authenticationNeeded(let challenge) = reply else { return reply }
                // A proof that was sent and is asked for again is worth nothing any more: a ticket ends.
                let ended = challenge.alternatives.reduce(into: Set()) { $0.formUnion($1) }.intersection(used)
                let asked = session ?? AuthenticationSession()
                session = asked
                asked.forget(ended)
                used.subtract(ended)
                let known = asked.factors
                used.formUnion(
                    try asKeychainError { () throws(AuthenticationFailure) in
                        try dialog(in: asked, reason: asking.reason, mayAsk: mayAsk, cancellation)
                            .satisfy(challenge.alternatives, question)
                    })
                typed.formUnion(used.subtracting(known))
            } catch  where cancellation?.isCancelled == true && error.code == .authenticationFailed {
                throw .cancelledCall
            } catch
                where error.code == .authenticationFailed && session?.hasStale(used.subtracting(typed)) == true
                && mayAsk
            {
                // The passcode was right once and was changed meanwhile: it is asked for anew.
                session?.forget([.passcode])
                used.remove(.passcode)
            } catch  where error.code == .authenticationFailed && mayRetry(typed, &mistakes) {
                // The answer is wrong: the person is asked once more, and told why.
                session?.forget(typed)
                used.subtract(typed)
                typed = []
                question.complaint = error.message
            }
        }
        throw KeychainError(.authenticationFailed, message: "the keychain was not satisfied after 20 questions")
    }

    private func dialog(
        in session: AuthenticationSession, reason: String?, mayAsk: Bool, _ cancellation: Cancellation? = nil
    ) -> AuthenticationDialog {
        AuthenticationDialog(
            session: session, cancellation: cancellation, prompter: prompter, programName: programName, reason: reason,
            mayAsk: mayAsk,
            readBiometry: verifyBiometry,
            // If the keychain cannot be told, the ticket ends by itself.
            endTicket: { [self] ticket in _ = try? perform(.endTicket(ticket)) })
    }

    private func asKeychainError<R>(
        _ body: () throws(AuthenticationFailure) -> R
    ) throws(KeychainError) -> R {
        do throws(AuthenticationFailure) { return try body() } catch { throw error.keychainError }
    }

    /// Whether asking again makes sense: something was typed in this call, and the next one would be looked at.
    private func mayRetry(_ typed: Set<AuthenticationFactor>, _ mistakes: inout Int) -> Bool {
        guard !typed.isDisjoint(with: [.passcode, .applicationPassword]) else { return false }
        mistakes += 1
        guard mistakes < Self.mostMistakes,
            case .success(let status) = Result(catching: { () throws(KeychainError) in
                try lockStatus()
            })
        else { return false }
        return status.secondsUntilNextAttempt == 0
    }

    // MARK: Policies

    package func authenticationStatus() throws(KeychainError) -> AuthenticationStatus { try ask(.authenticationStatus) }

    /// Whether a person could show one of these at the moment.
    ///
    /// - Throws: why not.
    package func requireShowable(
        _ alternatives: [Set<AuthenticationFactor>]
    ) throws(AuthenticationFailure) -> [Set<AuthenticationFactor>] {
        let status: AuthenticationStatus
        do throws(KeychainError) { status = try authenticationStatus() } catch {
            throw .keychain(error.code, error.message)
        }
        var obstacle: AuthenticationFailure?
        let possible = alternatives.filter { factors in
            if factors.contains(.biometry), let reason = status.biometry.obstacle {
                obstacle = obstacle ?? reason
                return false
            }
            if factors.contains(.passcode) && !status.hasPasscode {
                obstacle = .noPasscode
                return false
            }
            return true
        }
        if possible.isEmpty { throw obstacle ?? .notInteractive("nothing on this machine satisfies it") }
        return possible
    }

    /// Has a person show one of these, in spite of earlier proofs, and makes sure that it is right.
    ///
    /// - Parameter reason: The reason why the program asks.
    package func authenticate(
        _ alternatives: [Set<AuthenticationFactor>], in session: AuthenticationSession, reason: String?
    ) throws(AuthenticationFailure) {
        if session.isInvalidated { throw .invalidContext }
        if session.forbidsInteraction { throw .interactionForbidden }
        let possible = try requireShowable(alternatives)
        session.forget([.passcode, .biometry])
        let dialog = dialog(in: session, reason: reason, mayAsk: true)
        var question = AuthenticationDialog.Question()
        var mistakes = 0
        while true {
            let shown = try dialog.satisfy(possible, question)
            guard shown.contains(.passcode) else { return }
            do throws(KeychainError) {
                _ = try perform(.authenticated(session.proof(of: [.passcode]), .authenticationStatus))
                return
            } catch {
                session.forget([.passcode])
                guard error.code == .authenticationFailed else { throw .keychain(error.code, error.message) }
                guard mayRetry([.passcode], &mistakes) else { throw .rejected(error.message) }
                question.complaint = error.message
            }
        }
    }
}

extension AuthenticationStatus.Biometry {
    fileprivate var obstacle: AuthenticationFailure? {
        switch self {
        case .ready: nil
        case .notEnrolled(_, let text): .biometryNotEnrolled(text)
        case .lockedOut: .biometryLockedOut
        case .notAvailable(let text): .biometryNotAvailable(text)
        }
    }
}

extension KeychainError {
    package static var cancelledCall: KeychainError {
        KeychainError(.taskCancelled, message: "the program cancelled the task that the call was made in")
    }
}

extension Request {
    /// Whether a password that is asked for is chosen now.
    fileprivate var storesItem: Bool {
        switch self {
        case .add, .makeKey: true
        case .update(let request): request.changes.accessControl?.isSealedWithApplicationPassword ?? false
        case .transaction(let request): request.steps.contains(where: \.storesItem)
        default: false
        }
    }
}

extension TransactionRequest.Step {
    fileprivate var storesItem: Bool {
        switch self {
        case .add: true
        case .put(let request): request.accessControl?.isSealedWithApplicationPassword ?? false
        case .update(let request): Request.update(request).storesItem
        case .delete: false
        }
    }
}
