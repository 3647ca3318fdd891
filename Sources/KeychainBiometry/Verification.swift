internal import KeychainModel

/// One question to the person at the reader, from its claim to its release.
final class Verification {
    private let service: FingerprintService
    private let limits: FingerprintLimits
    private let clock = ContinuousClock()
    private var isVerifying = false

    init(_ service: FingerprintService, _ limits: FingerprintLimits) {
        (self.service, self.limits) = (service, limits)
    }

    /// - Returns: the enrolment between the match and the release. While the reader is claimed, no other program can
    ///   enrol or delete a finger.
    /// - Throws: as ``FingerprintReader/verify(_:hint:)``.
    func run(_ hint: (BiometryHint) -> Void) throws(BiometryFailure) -> BiometryEnrolment {
        let device = try service.device()
        try service.claim(device)
        do throws(BiometryFailure) {
            defer { service.release(device, isVerifying: isVerifying) }
            return try verify(device, hint)
        } catch {
            // fprintd knows that a reader is gone when it is released, and says before that it failed.
            if case .failed = error, service.isGone(device) {
                throw .notAvailable("the fingerprint reader was unplugged")
            }
            throw error
        }
    }

    private func verify(
        _ device: FingerprintDevice, _ hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryEnrolment {
        for attempt in 0..<limits.attempts {
            try service.startVerifying(device)
            isVerifying = true
            if try matches(device, isFirst: attempt == 0, hint) { return try service.renewed(device).enrolment }
            try service.stopVerifying(device)
            isVerifying = false
        }
        throw .noMatch
    }

    /// Waits until the reader has seen a finger well enough to tell.
    private func matches(
        _ device: FingerprintDevice, isFirst: Bool, _ hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> Bool {
        let words = HintWords(isSwiped: device.isSwiped)
        var isAsked = false
        while true {
            let patience = isAsked ? limits.touch : limits.selection
            switch try service.nextSignal(of: device, until: clock.now + patience) {
            case .match: return true
            case .noMatch: return false
            case .retry(let retry): hint(words.again(because: retry))
            case .selected(let finger): hint(words.question(finger, isFirst: isFirst))
            case .disconnected: throw .notAvailable("the fingerprint reader was unplugged")
            case .stopped(let status): throw .failed("the fingerprint reader stopped looking (\(status))")
            case nil where isAsked: throw .timedOut
            case nil: hint(words.question("any", isFirst: isFirst))
            }
            isAsked = true
        }
    }
}
