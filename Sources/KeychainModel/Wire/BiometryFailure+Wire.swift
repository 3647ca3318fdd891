internal import Foundation

extension WireBiometryAnswer {
    init(_ answer: Result<BiometryTicket, BiometryFailure>) {
        self.init()
        switch answer {
        case .success(let seen): ticket = seen.identifier.wireBytes
        case .failure(let reason): (failure, message) = reason.wire
        }
    }
}

extension BiometryFailure {
    fileprivate var wire: (WireBiometryAnswer.Failure, String) {
        switch self {
        case .notAvailable(let text): (.notAvailable, text)
        case .notEnrolled(let text): (.notEnrolled, text)
        case .busy(let text): (.busy, text)
        case .noMatch: (.noMatch, "")
        case .lockedOut: (.lockedOut, "")
        case .cancelled: (.cancelled, "")
        case .timedOut: (.timedOut, "")
        case .failed(let text): (.brokeOff, text)
        }
    }

    fileprivate init(_ failure: WireBiometryAnswer.Failure, _ message: String) throws(KeychainError) {
        switch failure {
        case .notAvailable: self = .notAvailable(message)
        case .notEnrolled: self = .notEnrolled(message)
        case .busy: self = .busy(message)
        case .noMatch: self = .noMatch
        case .lockedOut: self = .lockedOut
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .brokeOff: self = .failed(message)
        case .unspecified, .UNRECOGNIZED: throw .unknown("failure of a reader", failure.rawValue)
        }
    }
}

extension Result<BiometryTicket, BiometryFailure> {
    init(_ wire: WireBiometryAnswer) throws(KeychainError) {
        self =
            wire.hasTicket
            ? .success(BiometryTicket(try UUID(wireBytes: wire.ticket)))
            : .failure(try BiometryFailure(wire.failure, wire.message))
    }
}
