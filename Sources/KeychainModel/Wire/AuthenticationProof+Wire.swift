internal import Foundation
internal import SwiftProtobuf

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
