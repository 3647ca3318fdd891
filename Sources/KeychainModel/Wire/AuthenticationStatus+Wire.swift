internal import Foundation

extension WireAuthenticationStatus {
    init(_ status: AuthenticationStatus) {
        self.init()
        hasPasscode_p = status.hasPasscode
        switch status.biometry {
        case .ready(let enrolled):
            biometry = .ready
            kind = WireBiometryKind(enrolled.kind)
            enrolment = Data(enrolled.digest)
        case .notEnrolled(let reader, let text):
            biometry = .notEnrolled
            kind = WireBiometryKind(reader)
            message = text
        case .lockedOut(let reader):
            biometry = .lockedOut
            kind = WireBiometryKind(reader)
        case .notAvailable(let text):
            biometry = .notAvailable
            message = text
        }
    }
}

extension AuthenticationStatus {
    init(_ wire: WireAuthenticationStatus) throws(KeychainError) {
        let biometry: Biometry
        switch wire.biometry {
        case .ready:
            guard wire.enrolment.count == BiometryEnrolment.digestByteCount else {
                throw KeychainError(.parameter, message: "what is enrolled has \(wire.enrolment.count) bytes")
            }
            biometry = .ready(BiometryEnrolment(kind: try BiometryKind(wire.kind), digest: Array(wire.enrolment)))
        case .notEnrolled: biometry = .notEnrolled(try BiometryKind(wire.kind), wire.message)
        case .lockedOut: biometry = .lockedOut(try BiometryKind(wire.kind))
        case .notAvailable: biometry = .notAvailable(wire.message)
        case .unspecified, .UNRECOGNIZED: throw .unknown("state of a reader", wire.biometry.rawValue)
        }
        self.init(hasPasscode: wire.hasPasscode_p, biometry: biometry)
    }
}

extension WireBiometryKind {
    fileprivate init(_ kind: BiometryKind) {
        self =
            switch kind {
            case .fingerprint: .fingerprint
            case .face: .face
            }
    }
}

extension BiometryKind {
    fileprivate init(_ wire: WireBiometryKind) throws(KeychainError) {
        switch wire {
        case .fingerprint: self = .fingerprint
        case .face: self = .face
        case .unspecified, .UNRECOGNIZED: throw .unknown("kind of a reader", wire.rawValue)
        }
    }
}
