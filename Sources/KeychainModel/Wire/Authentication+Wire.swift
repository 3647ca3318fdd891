internal import Foundation
internal import SwiftProtobuf

// How a person shows that it is them.

extension WireProof {
    init(_ proof: AuthenticationProof, _ secrets: inout [SecretBytes]) {
        self.init()
        if let passcode = proof.passcode { passcodeSize = secrets.size(adding: passcode) }
        if let password = proof.applicationPassword { applicationPasswordSize = secrets.size(adding: password) }
        if let proof = proof.ticket { ticket = proof.identifier.wireBytes }
    }
}

extension AuthenticationProof {
    init(_ wire: WireProof, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            passcode: try tail.take(ifAny: wire.hasPasscodeSize ? wire.passcodeSize : nil),
            applicationPassword: try tail.take(
                ifAny: wire.hasApplicationPasswordSize ? wire.applicationPasswordSize : nil))
        if wire.hasTicket { ticket = BiometryTicket(try UUID(wireBytes: wire.ticket)) }
        if isEmpty { throw KeychainError(.parameter, message: "a proof shows nothing") }
    }
}

// MARK: - Challenges

extension WireAuthenticationChallenge {
    init(_ challenge: AuthenticationChallenge) {
        self.init()
        alternatives = challenge.alternatives.map { factors in
            .with { $0.factors = factors.sorted { $0.rawValue < $1.rawValue }.map { WireFactor($0) } }
        }
    }
}

extension AuthenticationChallenge {
    init(_ wire: WireAuthenticationChallenge) throws(KeychainError) {
        var alternatives: [Set<AuthenticationFactor>] = []
        for alternative in wire.alternatives {
            var factors: Set<AuthenticationFactor> = []
            for factor in alternative.factors { factors.insert(try AuthenticationFactor(factor)) }
            if factors.isEmpty { throw KeychainError(.parameter, message: "a challenge asks for nothing") }
            alternatives.append(factors)
        }
        if alternatives.isEmpty { throw KeychainError(.parameter, message: "a challenge that nothing satisfies") }
        self.init(alternatives)
    }
}

extension WireFactor {
    fileprivate init(_ factor: AuthenticationFactor) {
        self =
            switch factor {
            case .passcode: .passcode
            case .biometry: .biometry
            case .applicationPassword: .applicationPassword
            }
    }
}

extension AuthenticationFactor {
    fileprivate init(_ wire: WireFactor) throws(KeychainError) {
        switch wire {
        case .passcode: self = .passcode
        case .biometry: self = .biometry
        case .applicationPassword: self = .applicationPassword
        case .unspecified, .UNRECOGNIZED: throw .unknown("factor", wire.rawValue)
        }
    }
}

// MARK: - What there is

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

// MARK: - What a reader says

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
