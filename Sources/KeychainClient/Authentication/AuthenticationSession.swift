package import KeychainModel
internal import Synchronization

/// The proofs that a person gave to a program, for one call or for as long as an `LAContext` lives.
///
/// A passcode that was typed is kept in memory that is erased at the end: part of the keys of some items, it is needed
/// each time one is read. It protects nothing from the program's own process.
package final class AuthenticationSession: Sendable {
    /// How questions look, in the program's own words.
    package struct Wording: Sendable, Hashable {
        package var reason: String?
        /// nil: a title of ours; empty: there is to be no fallback.
        package var fallbackTitle: String?
        package var cancelTitle: String?

        package init() {}
    }

    /// A ticket, and how the keychain that gave it learns that it is worth nothing any more.
    private struct HeldTicket {
        let ticket: BiometryTicket
        let endTicket: @Sendable (BiometryTicket) -> Void

        func end() { endTicket(ticket) }
    }

    private struct State {
        var wording = Wording()
        var forbidsInteraction = false
        var isInvalidated = false
        var passcode: SecretBytes?
        var applicationPassword: SecretBytes?
        var ticket: HeldTicket?
        var waiting: [ObjectIdentifier: Cancellation] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    deinit { invalidate() }

    package var wording: Wording {
        get { state.withLock { $0.wording } }
        set { state.withLock { $0.wording = newValue } }
    }

    package var forbidsInteraction: Bool {
        get { state.withLock { $0.forbidsInteraction } }
        set { state.withLock { $0.forbidsInteraction = newValue } }
    }

    package var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// A program's own password for items. nil takes it away.
    package func setApplicationPassword(_ password: SecretBytes?) {
        state.withLock { if !$0.isInvalidated { $0.applicationPassword = password } }
    }

    package var hasApplicationPassword: Bool { state.withLock { $0.applicationPassword != nil } }

    /// Ends every question, and forgets all proofs. The session takes no proofs any more.
    package func invalidate() {
        let (waiting, ticket) = state.withLock { state in
            defer {
                state.isInvalidated = true
                (state.passcode, state.applicationPassword, state.ticket, state.waiting) = (nil, nil, nil, [:])
            }
            return (Array(state.waiting.values), state.ticket)
        }
        for cancellation in waiting { cancellation.cancel() }
        ticket?.end()
    }

    // MARK: The proofs

    /// The proofs of these factors, as far as the session has them.
    func proof(of factors: Set<AuthenticationFactor>) -> AuthenticationProof {
        state.withLock { state in
            AuthenticationProof(
                passcode: factors.contains(.passcode) ? state.passcode : nil,
                applicationPassword: factors.contains(.applicationPassword) ? state.applicationPassword : nil,
                ticket: factors.contains(.biometry) ? state.ticket?.ticket : nil)
        }
    }

    package var passcode: SecretBytes? { state.withLock { $0.passcode } }

    var factors: Set<AuthenticationFactor> {
        state.withLock { state in
            var factors: Set<AuthenticationFactor> = []
            if state.passcode != nil { factors.insert(.passcode) }
            if state.applicationPassword != nil { factors.insert(.applicationPassword) }
            if state.ticket != nil { factors.insert(.biometry) }
            return factors
        }
    }

    /// - Returns: false if the session was invalidated meanwhile: the passcode is then forgotten.
    @discardableResult
    package func keep(passcode: SecretBytes) -> Bool {
        state.withLock { state in
            if !state.isInvalidated { state.passcode = passcode }
            return !state.isInvalidated
        }
    }

    func keep(applicationPassword: SecretBytes) -> Bool {
        state.withLock { state in
            if !state.isInvalidated { state.applicationPassword = applicationPassword }
            return !state.isInvalidated
        }
    }

    /// - Parameter end: Tells the keychain that the ticket is worth nothing any more.
    func keep(_ ticket: BiometryTicket, end: @escaping @Sendable (BiometryTicket) -> Void) -> Bool {
        let new = HeldTicket(ticket: ticket, endTicket: end)
        let former = state.withLock { state -> HeldTicket? in
            guard !state.isInvalidated else { return new }
            defer { state.ticket = new }
            return state.ticket
        }
        former?.end()
        return former?.ticket != ticket
    }

    func forget(_ factors: Set<AuthenticationFactor>) {
        let ended = state.withLock { state -> HeldTicket? in
            if factors.contains(.passcode) { state.passcode = nil }
            if factors.contains(.applicationPassword) { state.applicationPassword = nil }
            guard factors.contains(.biometry) else { return nil }
            defer { state.ticket = nil }
            return state.ticket
        }
        ended?.end()
    }

    /// Whether the refused proof may be a passcode from an earlier call of this session.
    func hasStale(_ shownBefore: Set<AuthenticationFactor>) -> Bool {
        shownBefore.contains(.passcode) && state.withLock { $0.passcode != nil }
    }

    /// Runs `body`, which asks a person; ``invalidate()`` cancels it.
    func whileAsking<R, E: Error>(_ body: (Cancellation) throws(E) -> R) throws(E) -> R {
        let cancellation = Cancellation()
        let isInvalidated = state.withLock { state in
            state.waiting[ObjectIdentifier(cancellation)] = cancellation
            return state.isInvalidated
        }
        if isInvalidated { cancellation.cancel() }
        defer { _ = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(cancellation)) } }
        return try body(cancellation)
    }
}
