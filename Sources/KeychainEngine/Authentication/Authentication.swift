package import KeychainCrypto
package import KeychainModel

/// The proof of a person that came with one request, and its verdict on items.
///
/// An authentication never waits and never asks a person: a missing proof becomes a challenge, and the request comes
/// again.
package final class Authentication {
    /// The key that the shown passcode opens; nil if none was shown.
    let consent: ConsentKey?
    let applicationPassword: ApplicationPasswordKey?
    /// The enrolment when the reader recognised the person; nil without such a match.
    private let seen: BiometryEnrolment?
    /// Whether the application password has opened a secret.
    private(set) var applicationPasswordIsRight = false
    private let readBiometry: () -> AuthenticationStatus.Biometry
    /// nil until the reader is looked at, which takes a while and does not happen while the store is held.
    private var biometry: AuthenticationStatus.Biometry?

    package init(
        consent: ConsentKey? = nil, applicationPassword: ApplicationPasswordKey? = nil, seen: BiometryEnrolment? = nil,
        biometry: @escaping () -> AuthenticationStatus.Biometry
    ) {
        self.consent = consent
        self.applicationPassword = applicationPassword
        self.seen = seen
        readBiometry = biometry
    }

    func noteRightApplicationPassword() { applicationPasswordIsRight = true }

    var hasShownPasscode: Bool { consent != nil }

    var isBiometryKnown: Bool { biometry != nil }

    /// Asks the reader for its state, once.
    @discardableResult
    func lookAtBiometry() -> AuthenticationStatus.Biometry {
        let present = biometry ?? readBiometry()
        biometry = present
        return present
    }

    // MARK: Using items

    /// Whether the proof is enough for an item. If not, the caller is told that the item does not exist.
    ///
    /// - Throws: `.interactionNotAllowed` if a person would have to be asked and the query forbids it, or with the
    ///   challenge that says what is missing; `.authenticationFailed` if no person could show it;
    ///   `KeychainError.biometryUnknown` if the reader has to be looked at first.
    func permits(
        _ control: AccessControl, _ operation: AccessControl.Operation, _ ui: ItemQuery.AuthenticationUI,
        hasPasscode: Bool
    ) throws(KeychainError) -> Bool {
        guard control.isConstrained else { return true }
        let alternatives = control.alternatives(for: operation)
        if alternatives.contains([]) { return true }
        if try isInvalidated(control) { return operation == .delete }
        let shown = factorsShown
        if alternatives.contains(where: { $0.isSubset(of: shown) }) { return true }
        switch ui {
        case .skip: return false
        case .fail: throw .consentNeeded
        case .allow:
            let missing = alternatives.map { $0.subtracting(shown) }
            var possible: [Set<AuthenticationFactor>] = []
            for factors in missing where try areShowable(factors, hasPasscode) { possible.append(factors) }
            guard !possible.isEmpty else { throw try impossible(missing, hasPasscode) }
            throw .authenticationNeeded(possible)
        }
    }

    private var factorsShown: Set<AuthenticationFactor> {
        var shown: Set<AuthenticationFactor> = []
        if consent != nil { shown.insert(.passcode) }
        if applicationPassword != nil { shown.insert(.applicationPassword) }
        if seen != nil { shown.insert(.biometry) }
        return shown
    }

    /// Whether an item was stored for another set of fingers or faces than the present one. An unknown set counts as
    /// unchanged.
    func isInvalidated(_ control: AccessControl) throws(KeychainError) -> Bool {
        guard control.flags.contains(.biometryCurrentSet) else { return false }
        if let seen { return seen.digest != control.boundSet }
        switch try knownBiometry() {
        case .ready(let enrolled): return enrolled.digest != control.boundSet
        case .notEnrolled: return true
        case .lockedOut, .notAvailable: return false
        }
    }

    private func areShowable(
        _ factors: Set<AuthenticationFactor>, _ hasPasscode: Bool
    ) throws(KeychainError) -> Bool {
        if factors.contains(.passcode) && !hasPasscode { return false }
        guard factors.contains(.biometry) else { return true }
        if case .ready = try knownBiometry() { return true }
        return false
    }

    private func knownBiometry() throws(KeychainError) -> AuthenticationStatus.Biometry {
        guard let biometry else { throw .biometryUnknown }
        return biometry
    }

    /// The error that says why the missing factors cannot be shown.
    private func impossible(
        _ missing: [Set<AuthenticationFactor>], _ hasPasscode: Bool
    ) throws(KeychainError) -> KeychainError {
        let factors = missing.reduce(into: Set()) { $0.formUnion($1) }
        var reasons: [String] = []
        if missing.isEmpty { reasons.append("nothing on this machine satisfies it") }
        if factors.contains(.biometry) {
            switch try knownBiometry() {
            case .ready: break
            case .notEnrolled(_, let text), .notAvailable(let text): reasons.append(text)
            case .lockedOut: reasons.append("too many fingers did not match, and the passcode is wanted first")
            }
        }
        if factors.contains(.passcode) && !hasPasscode {
            reasons.append("no passcode is set ('keychainctl passcode set')")
        }
        return KeychainError(
            .authenticationFailed,
            message: "the item's access control asks for what nobody can show: \(reasons.joined(separator: "; "))")
    }

    // MARK: Storing items

    /// - Throws: `.authenticationFailed` if a key in the engine with this access control could never be used.
    func requireUsable(_ control: AccessControl, hasPasscode: Bool) throws(KeychainError) {
        let alternatives = control.alternatives(for: .use)
        guard !alternatives.isEmpty else {
            throw KeychainError(
                .authenticationFailed,
                message: control.flags.contains(.privateKeyUsage)
                    ? "nothing on this machine satisfies the access control"
                    : "the access control of a key in the engine needs .privateKeyUsage, or nobody may use the key")
        }
        if !hasPasscode && alternatives.allSatisfy({ $0.contains(.passcode) }) {
            throw try impossible(alternatives, hasPasscode)
        }
    }

    /// The access control for the present enrolment, to which items of the current set are bound.
    ///
    /// - Throws: `.authenticationFailed` if the access control asks for a finger or a face and none is enrolled, or for
    ///   the passcode and none is set; with a challenge if the key needs an application password and none came.
    ///
    /// - Parameter hasConsentPair: Whether an item can be sealed with the passcode while none is shown. A store whose
    ///   passcode is older than such pairs has none until the passcode is shown once.
    func binding(
        _ control: AccessControl, hasPasscode: Bool, hasConsentPair: Bool
    ) throws(KeychainError) -> AccessControl {
        guard control.isConstrained else { return control }
        if control.isSealedWithPasscode {
            guard hasPasscode else { throw try impossible([[.passcode]], hasPasscode) }
            guard hasConsentPair || consent != nil else {
                throw .authenticationNeeded([[.passcode]])
            }
        }
        if control.isSealedWithApplicationPassword && applicationPassword == nil {
            throw .authenticationNeeded([[.applicationPassword]])
        }
        guard !control.flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) else { return control }
        switch lookAtBiometry() {
        // An access control that was bound before is bound anew, since its item is stored now.
        case .ready(let enrolled): return control.bound(to: enrolled)
        case .lockedOut, .notEnrolled, .notAvailable: throw try impossible([[.biometry]], hasPasscode)
        }
    }
}

extension KeychainError {
    static func authenticationNeeded(_ alternatives: [Set<AuthenticationFactor>]) -> KeychainError {
        var error = consentNeeded
        error.signal = .needs(AuthenticationChallenge(alternatives))
        return error
    }

    fileprivate static var biometryUnknown: KeychainError {
        KeychainError(.internalFailure, message: "the reader was not looked at", signal: .lookAtReader)
    }

    static var consentNeeded: KeychainError {
        KeychainError(
            .interactionNotAllowed,
            message: "the item's access control asks for authentication, and the call forbids to ask for it")
    }
}
