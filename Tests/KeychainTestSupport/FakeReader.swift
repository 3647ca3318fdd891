package import KeychainModel
internal import Synchronization

/// A reader of fingers that a test puts fingers on.
package final class FakeReader: BiometryReader {
    private struct State {
        var obstacle: BiometryFailure? = .notAvailable("there is no reader in this test")
        var enrolled: Set<UInt8> = []
        var touches: [UInt8] = []
        var lookCount = 0
        var waiting: Cancellation?
        var isPatient = true
    }

    private let state = Mutex(State())

    package init() {}

    package var kind: BiometryKind { .fingerprint }

    /// How often somebody waited at it.
    package var lookCount: Int { state.withLock { $0.lookCount } }

    /// From now on there is a reader, which knows these fingers.
    package func enroll(_ fingers: UInt8...) {
        state.withLock { state in
            state.obstacle = nil
            state.enrolled = Set(fingers)
        }
    }

    package func fail(with failure: BiometryFailure) { state.withLock { $0.obstacle = failure } }

    /// The fingers that the next who wait see, one each. Where there is none, nobody comes until the waiting is cancelled.
    package func touch(_ fingers: UInt8...) { state.withLock { $0.touches += fingers } }

    /// From now on the waiting ends by itself where nobody comes.
    package func losePatience() { state.withLock { $0.isPatient = false } }

    /// Whether somebody waits at the moment.
    package var isWaitedFor: Bool { state.withLock { $0.waiting != nil } }

    package func enrolment() throws(BiometryFailure) -> BiometryEnrolment {
        try state.withLock { state in Result { () throws(BiometryFailure) in try Self.enrolment(state) } }.get()
    }

    private static func enrolment(_ state: State) throws(BiometryFailure) -> BiometryEnrolment {
        if let obstacle = state.obstacle { throw obstacle }
        if state.enrolled.isEmpty { throw .notEnrolled("no finger is enrolled in this test") }
        let sorted = state.enrolled.sorted()
        return BiometryEnrolment(
            kind: .fingerprint,
            digest: sorted + [UInt8](repeating: 0, count: BiometryEnrolment.digestByteCount - sorted.count))
    }

    package func verify(
        _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryEnrolment {
        hint(BiometryHint("put a finger on the test"))
        let touched = state.withLock { state -> UInt8? in
            state.lookCount += 1
            state.waiting = cancellation
            return state.touches.isEmpty ? nil : state.touches.removeFirst()
        }
        defer { state.withLock { $0.waiting = nil } }
        guard let touched else {
            guard state.withLock({ $0.isPatient }) else { throw .timedOut }
            let isOver = TestGate()
            cancellation.withHandler({ isOver.open() }) { isOver.wait() }
            throw .cancelled
        }
        return try state.withLock { state in
            Result { () throws(BiometryFailure) in
                let enrolment = try Self.enrolment(state)
                guard state.enrolled.contains(touched) else { throw BiometryFailure.noMatch }
                return enrolment
            }
        }.get()
    }
}
