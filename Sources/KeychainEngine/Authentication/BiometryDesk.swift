internal import KeychainModel
internal import Synchronization

/// Gives tickets to callers for whom the reader has recognised the person, and counts the failures.
final class BiometryDesk: Sendable {
    /// After so many verifications in a row without a match, the reader is not asked until the passcode is shown:
    /// Apple's number for Touch ID. A reader may let several fingers be tried in one verification.
    static let mostFailures = 5
    /// The limit for all callers together; the oldest ticket goes first.
    private static let mostTickets = 1_024

    private struct Ticket {
        var caller: Caller
        var process: Int32?
        var seen: BiometryEnrolment
        /// Nanoseconds since the system started.
        var end: UInt64
        /// The last lock of the store when the ticket was given.
        var lockedAt: UInt64?
    }

    private struct State {
        var tickets: [BiometryTicket: Ticket] = [:]
        var failures = 0
    }

    private let state = Mutex(State())
    private let clock: any Clock

    init(_ clock: any Clock) { self.clock = clock }

    var isLockedOut: Bool { state.withLock { $0.failures >= Self.mostFailures } }

    func noteFailure() { state.withLock { $0.failures += 1 } }

    /// Called when the passcode or an enrolled finger was shown.
    func forgetFailures() { state.withLock { $0.failures = 0 } }

    /// - Parameter lockedAt: The last lock of the store; a later one ends the ticket.
    func give(_ ticket: BiometryTicket, to caller: Caller, seen: BiometryEnrolment, lockedAt: UInt64?) {
        let now = clock.sinceBoot
        let end = now + UInt64(BiometryTicket.lifetime.components.seconds) * 1_000_000_000
        state.withLock { state in
            state.tickets = state.tickets.filter { $0.value.end > now }
            if state.tickets.count >= Self.mostTickets,
                let oldest = state.tickets.min(by: { $0.value.end < $1.value.end })
            {
                state.tickets[oldest.key] = nil
            }
            state.tickets[ticket] = Ticket(
                caller: caller, process: caller.evidence?.pid, seen: seen, end: end, lockedAt: lockedAt)
        }
    }

    /// The enrolment that the reader saw; nil if the ticket is over or belongs to another caller.
    func seen(_ ticket: BiometryTicket, _ caller: Caller, lockedAt: UInt64?) -> BiometryEnrolment? {
        let now = clock.sinceBoot
        return state.withLock { state in
            guard let known = state.tickets[ticket], known.caller == caller, known.process == caller.evidence?.pid
            else { return nil }
            guard known.end > now, known.lockedAt == lockedAt else {
                state.tickets[ticket] = nil
                return nil
            }
            return known.seen
        }
    }

    func end(_ ticket: BiometryTicket, _ caller: Caller) {
        state.withLock { state in
            guard let known = state.tickets[ticket], known.caller == caller, known.process == caller.evidence?.pid
            else { return }
            state.tickets[ticket] = nil
        }
    }
}
