internal import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel

extension Engine {
    /// Examines the proof that came with a request, once, before the request is carried out.
    ///
    /// - Throws: `.authenticationFailed` for a wrong passcode, and while the caller has to wait. A worthless ticket
    ///   counts as none.
    func authentication(_ proof: AuthenticationProof, _ caller: Caller) throws -> Authentication {
        var consent: ConsentKey?
        if let passcode = proof.passcode {
            try requirePossible(passcode)
            consent = try finishingErasure {
                try keys.consentKey(passcode, isPairLost: hasSecretsSealedWithPasscode)
            }
            biometry.forgetFailures()
        }
        let password = try proof.applicationPassword.map { try keys.applicationPasswordKey($0) }
        let seen = proof.ticket.flatMap { biometry.seen($0, caller, lockedAt: keys.state.read()?.lockedAt) }
        return Authentication(consent: consent, applicationPassword: password, seen: seen) { [self] in biometryStatus()
        }
    }

    /// A text that cannot be a passcode counts as a wrong one: the person mistyped it, and the program made no mistake.
    private func requirePossible(_ passcode: SecretBytes) throws(KeychainError) {
        do throws(KeychainError) {
            try Passcode.check(passcode)
        } catch {
            throw KeychainError(.authenticationFailed, message: "the passcode is wrong: \(error.message)")
        }
    }

    var unauthenticated: Authentication { Authentication { [self] in biometryStatus() } }

    func authenticationStatus() throws(KeychainError) -> AuthenticationStatus {
        AuthenticationStatus(
            hasPasscode: try keys.begin().snapshot.bag.passcode != nil, biometry: biometryStatus())
    }

    private func biometryStatus() -> AuthenticationStatus.Biometry {
        guard let reader = configuration.biometry else { return .notAvailable(Self.noReader) }
        if biometry.isLockedOut { return .lockedOut(reader.kind) }
        do throws(BiometryFailure) {
            return .ready(try reader.enrolment())
        } catch {
            switch error {
            case .notEnrolled(let text): return .notEnrolled(reader.kind, text)
            case .notAvailable(let text), .busy(let text), .failed(let text): return .notAvailable(text)
            case .noMatch, .lockedOut, .cancelled, .timedOut:
                return .notAvailable("the reader does not say what is enrolled")
            }
        }
    }

    private static let noReader = "there is no reader of fingers or faces"

    /// As ``RequestHandler/verifyBiometry(for:_:hint:)``. The engine's own locks are free while the reader waits.
    package func verifyBiometry(
        for caller: Caller, _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket {
        guard let reader = configuration.biometry else { throw .notAvailable(Self.noReader) }
        if biometry.isLockedOut { throw .lockedOut }
        // The lock is read first: a lock that comes meanwhile ends the ticket at once.
        let lockedAt = keys.state.read()?.lockedAt
        let seen: BiometryEnrolment
        do throws(BiometryFailure) {
            seen = try reader.verify(cancellation, hint: hint)
        } catch {
            if case .noMatch = error { biometry.noteFailure() }
            throw error
        }
        biometry.forgetFailures()
        return try ticket(for: caller, seen, lockedAt)
    }

    private func ticket(
        for caller: Caller, _ seen: BiometryEnrolment, _ lockedAt: UInt64?
    ) throws(BiometryFailure) -> BiometryTicket {
        do throws(KeychainError) {
            let ticket = BiometryTicket(try UUID(from: configuration.randomness))
            biometry.give(ticket, to: caller, seen: seen, lockedAt: lockedAt)
            return ticket
        } catch {
            throw .failed(error.message)
        }
    }
}

extension KeyStore {
    /// A program's application password, as part of a key. A wrong one counts as a wrong passcode does, and while the
    /// caller has to wait none is tried.
    func applicationPasswordKey(_ password: SecretBytes) throws -> ApplicationPasswordKey {
        try withStoreLock { try attempts.requireNoWait() }
        return try ApplicationPasswordKey(
            password, cost: UInt8(clamping: configuration.passcodeCost), storeID: storeID, deviceKey: deviceKey)
    }

    func noteWrong(_ password: ApplicationPasswordKey) throws {
        try withStoreLock { try attempts.noteFailure(password.fingerprint) }
    }

    /// In a store without a passcode, a right application password shortens the wait after wrong ones. With a passcode
    /// only the passcode does: a person with one of the two must not get more guesses at the other.
    func noteRightPassword() throws {
        guard try attempts.status().failures > 0, try begin().snapshot.bag.passcode == nil else { return }
        try withStoreLock { try attempts.noteRightPassword() }
    }
}
