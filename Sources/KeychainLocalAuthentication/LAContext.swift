@_exported public import Foundation
internal import KeychainModel
public import KeychainSecurity
package import SwiftKeychain
internal import Synchronization

/// The pointer through which a method reports an error; Linux Foundation lacks the name.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// The longest time that an unlock with a finger may be reused for.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// How a program has the person in front of the machine authenticated, and what they have shown.
///
/// The person is asked by a program of the system's (`pinentry`) or in the terminal, and shows the keychain's passcode or,
/// where `fprintd` serves a reader, an enrolled finger. The keychain verifies both and slows down wrong answers. In the
/// embedded host that happens in this very process: there a policy is a question to the person, and no boundary against
/// the program that asks. Where a daemon has the keychain, it is the daemon that verifies.
///
/// What was shown is kept until the context is invalidated or goes, so that one question serves several calls: a passcode
/// in memory that is erased then; a finger for five minutes at most, and until the keychain is locked. Give the context to
/// the keychain under `kSecUseAuthenticationContext`.
///
/// A context may be used from several threads. Blocking calls wait as long as the person takes.
open class LAContext: NSObject, @unchecked Sendable {  // everything that varies is behind a lock
    private struct State {
        var reuseDuration: TimeInterval = 0
        var biometryType: LABiometryType?
        var domainState: Data?
    }

    private let state = Mutex(State())
    package let session = AuthenticationSession()

    override public init() { super.init() }

    /// The title of the choice beside the reader's: nil for one of ours, empty for none. Where there is no passcode to fall
    /// back to, choosing it ends the evaluation with ``LAError/userFallback``.
    open var localizedFallbackTitle: String? {
        get { session.wording.fallbackTitle }
        set { session.wording.fallbackTitle = newValue }
    }

    open var localizedCancelTitle: String? {
        get { session.wording.cancelTitle }
        set { session.wording.cancelTitle = newValue }
    }

    /// The reason shown to the person where a call does not give one.
    open var localizedReason: String {
        get { session.wording.reason ?? "" }
        set { session.wording.reason = newValue.isEmpty ? nil : newValue }
    }

    /// Whether an operation that would have to ask the person fails instead.
    open var interactionNotAllowed: Bool {
        get { session.forbidsInteraction }
        set { session.forbidsInteraction = newValue }
    }

    /// Kept and without effect: nothing on Linux is unlocked with a finger in a way that a program could reuse.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set { state.withLock { $0.reuseDuration = newValue } }
    }

    /// What kind of reader there is, whether or not somebody is enrolled; ``LABiometryType/none`` without one. Looked up
    /// once, and again by ``canEvaluatePolicy(_:error:)``.
    open var biometryType: LABiometryType {
        if let known = state.withLock({ $0.biometryType }) { return known }
        lookAtBiometry()
        return state.withLock { $0.biometryType } ?? .none
    }

    /// Bytes that change when fingers or faces are enrolled or removed, as far as the reader reveals it: as they were
    /// at the last ``canEvaluatePolicy(_:error:)``, or the first look at ``biometryType``. nil before that, and while
    /// no finger or face could be asked for.
    open var evaluatedPolicyDomainState: Data? { state.withLock { $0.domainState } }

    /// Whether the policy could be evaluated now. Asks nobody, but may take a moment: a reader's service may have to start.
    ///
    /// - Parameters:
    ///   - policy: What would be asked.
    ///   - error: Receives the ``LAError`` that says why not.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        lookAtBiometry()
        do throws(AuthenticationFailure) {
            try requireShowable(policy, over: .current)
            return true
        } catch let failure {
            error?.pointee = Self.error(failure, for: policy)._nsError
            return false
        }
    }

    private func lookAtBiometry(over connection: Connection = .current) {
        // Where the keychain does not answer there is no reader either; an evaluation says why.
        let status = try? connection.authenticationStatus()
        state.withLock { state in
            switch status?.biometry {
            case .ready(let enrolled):
                state.biometryType = LABiometryType(enrolled.kind)
                state.domainState = Data(enrolled.digest)
            case .notEnrolled(let kind, _), .lockedOut(let kind):
                state.biometryType = LABiometryType(kind)
                state.domainState = nil
            case .notAvailable, nil: (state.biometryType, state.domainState) = (LABiometryType.none, nil)
            }
        }
    }

    /// Asks the person, on a queue of the system's, for what the policy wants; also if it was shown before in this
    /// context, which forgets that.
    ///
    /// - Parameters:
    ///   - policy: What is asked.
    ///   - localizedReason: Why, in the program's words. Beside it the person sees which program asks.
    ///   - reply: Called once, on that queue: with true, or with false and the ``LAError`` that says why not.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(Self.alternatives(policy), localizedReason, policy, reply)
    }

    /// Asks the person, through ``evaluatePolicy(_:localizedReason:reply:)``, so that a subclass overrides one method only.
    ///
    /// - Throws: The ``LAError`` that says why the policy is not satisfied.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { success, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(success))
            }
        }
    }

    /// Asks the person for what an access control wants for an operation, so that calls with this context need not.
    ///
    /// An access control that is bound to a set of fingers is satisfied by any enrolled finger here; the item itself opens
    /// only if the set is the one it was stored for.
    ///
    /// - Parameters:
    ///   - accessControl: Of the item.
    ///   - operation: Storing an item asks for nothing; a key's bytes are for nobody, so nothing satisfies their use yet.
    ///   - localizedReason: Why, in the program's words.
    ///   - reply: As of ``evaluatePolicy(_:localizedReason:reply:)``.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let alternatives: [Set<AuthenticationFactor>] =
            switch operation {
            case .createItem, .createKey: [[]]
            case .useItem: accessControl.accessControl.alternatives(for: .read)
            case .useKeySign, .useKeyDecrypt, .useKeyKeyExchange: []
            }
        evaluate(alternatives, localizedReason, nil, reply)
    }

    /// As ``evaluateAccessControl(_:operation:localizedReason:reply:)``.
    ///
    /// - Throws: The ``LAError`` that says why the access control is not satisfied.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason) {
                success, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(success))
            }
        }
    }

    private func evaluate(
        _ alternatives: [Set<AuthenticationFactor>], _ reason: String, _ policy: LAPolicy?,
        _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let connection = Connection.current
        DispatchQueue.global().async { [self] in
            do throws(AuthenticationFailure) {
                if isInvalidated { throw .invalidContext }
                if !alternatives.contains([]) {
                    try connection.authenticate(alternatives, in: session, reason: reason.isEmpty ? nil : reason)
                }
                if alternatives.contains(where: { $0.contains(.biometry) }) { lookAtBiometry(over: connection) }
                reply(true, nil)
            } catch {
                reply(false, Self.error(error, for: policy))
            }
        }
    }

    /// Ends every question of this context, and forgets what was shown. From now on every evaluation fails with
    /// ``LAError/invalidContext``, and those under way with ``LAError/appCancel``, or the former where an answer was on
    /// its way: it counts for nothing.
    open func invalidate() { session.invalidate() }

    /// Gives the keychain a password of the program's own, for items with `SecAccessControlCreateFlags.applicationPassword`:
    /// it becomes part of their key. nil takes it away.
    ///
    /// - Returns: false for a type that is not offered (``LACredentialType/smartCardPIN``), and for a context that was
    ///   invalidated.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword, !isInvalidated else { return false }
        session.setApplicationPassword(credential.map { SecretBytes(copying: $0) })
        return true
    }

    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        type == .applicationPassword && session.hasApplicationPassword
    }

    package var isInvalidated: Bool { session.isInvalidated }
}

extension LABiometryType {
    fileprivate init(_ kind: BiometryKind) {
        self =
            switch kind {
            case .fingerprint: .touchID
            case .face: .faceID
            }
    }
}
