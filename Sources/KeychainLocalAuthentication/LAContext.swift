@_exported public import Foundation
package import KeychainClient
internal import KeychainModel
public import KeychainSecurity
internal import Synchronization

/// A method reports an error through this pointer, whose name Foundation on Linux lacks.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The constant is Apple's limit of 300 seconds for reusing an unlock with a finger, and has no effect here.
///
/// `LAContext.touchIDAuthenticationAllowableReuseDuration` takes any number, and has no effect either.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// A context has the person in front of the machine authenticated, and keeps the proof for later calls.
///
/// The person shows the keychain's passcode, or an enrolled finger where `fprintd` serves a reader. The passcode is
/// typed into a dialog of the system (`pinentry`) or into the terminal. The keychain verifies both and slows down wrong
/// answers.
///
/// In the embedded host the keychain is part of this very process. A policy is a question to the person there, and no
/// boundary against the program that asks. Where a daemon has the keychain, the daemon verifies.
///
/// A context keeps a passcode until it is invalidated or goes, in memory that is erased then. It keeps a finger for
/// five minutes at most, and until the keychain is locked. The keychain takes a context under
/// `kSecUseAuthenticationContext`, so that one question serves several calls.
///
/// Several threads may use one context. Blocking calls wait as long as the person takes.
open class LAContext: NSObject, @unchecked Sendable {  // everything that varies is behind a lock
    private struct State {
        var reuseDuration: TimeInterval = 0
        var biometryType: LABiometryType?
        var domainState: Data?
    }

    private let state = Mutex(State())
    package let session = AuthenticationSession()

    /// Makes a context in which nothing was shown yet.
    override public init() { super.init() }

    /// The title of the choice beside the reader's is nil for the keychain's own words, and empty for no such choice.
    ///
    /// The keychain's own choice is the passcode, if the policy allows one. Where the policy allows no passcode, only a
    /// title that the program sets makes a choice, which ends the evaluation with ``LAError/userFallback``.
    open var localizedFallbackTitle: String? {
        get { session.wording.fallbackTitle }
        set { session.wording.fallbackTitle = newValue }
    }

    /// The title of the choice that declines is nil for the keychain's own word, "Cancel".
    ///
    /// The dialog shows the title as one line of limited length.
    open var localizedCancelTitle: String? {
        get { session.wording.cancelTitle }
        set { session.wording.cancelTitle = newValue }
    }

    /// The reason is shown to the person where a call does not give one.
    ///
    /// An empty reason counts as none.
    open var localizedReason: String {
        get { session.wording.reason ?? "" }
        set { session.wording.reason = newValue.isEmpty ? nil : newValue }
    }

    /// An operation that would have to ask the person fails, if this value is true.
    ///
    /// An evaluation ends with ``LAError/notInteractive`` then, and a call of the keychain with
    /// `errSecInteractionNotAllowed`. The default is false.
    open var interactionNotAllowed: Bool {
        get { session.forbidsInteraction }
        set { session.forbidsInteraction = newValue }
    }

    /// The number is kept and has no effect, since no unlock of a screen is known here.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set { state.withLock { $0.reuseDuration = newValue } }
    }

    /// The kind of reader does not depend on whether a finger is enrolled, and is ``LABiometryType/none`` without a
    /// reader.
    ///
    /// The context looks once, and again with each ``canEvaluatePolicy(_:error:)`` and after an evaluation that a
    /// finger could satisfy.
    open var biometryType: LABiometryType {
        if let known = state.withLock({ $0.biometryType }) { return known }
        lookAtBiometry()
        return state.withLock { $0.biometryType } ?? .none
    }

    /// The bytes change when fingers or faces are enrolled or removed, as far as the reader reveals it.
    ///
    /// The value is nil while no finger or face could be asked for, and before the first look at the reader: by
    /// ``canEvaluatePolicy(_:error:)``, an evaluation or ``biometryType``. fprintd tells only the names of fingers, so
    /// another print under an old name does not change the bytes.
    open var evaluatedPolicyDomainState: Data? { state.withLock { $0.domainState } }

    /// Tells whether the policy could be evaluated now, without asking the person.
    ///
    /// The call may take a moment, since the reader's service may have to start. It does not look whether there is a
    /// dialog or terminal to ask with, nor at ``interactionNotAllowed``.
    ///
    /// - Parameters:
    ///   - policy: The policy that an evaluation would ask for.
    ///   - error: The place receives the ``LAError`` that says why not.
    /// - Returns: The value true if a passcode or finger that the policy asks for is there.
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

    /// Asks the person for a proof that satisfies the policy, on a system queue.
    ///
    /// The person is asked even if the context has such a proof already. The context forgets the passcode and the
    /// finger from before, also if the evaluation fails.
    ///
    /// - Parameters:
    ///   - policy: The policy to satisfy.
    ///   - localizedReason: The reason in the program's words. The person also sees which program asks.
    ///   - reply: The closure is called once, on that queue: with true, or with false and the ``LAError`` that says why
    ///     not.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(Self.alternatives(policy), localizedReason, policy, reply)
    }

    /// Asks the person for a proof that satisfies the policy, and waits without blocking a thread of the program's
    /// tasks.
    ///
    /// The method calls ``evaluatePolicy(_:localizedReason:reply:)``, so that a subclass overrides one method only.
    ///
    /// - Parameters:
    ///   - policy: The policy to satisfy.
    ///   - localizedReason: The reason in the program's words. The person also sees which program asks.
    /// - Returns: The value true, since any failure is thrown.
    /// - Throws: The ``LAError`` that says why the policy is not satisfied.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { success, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(success))
            }
        }
    }

    /// Asks the person for the proofs that an access control wants for an operation, so that later calls need not.
    ///
    /// An access control that is bound to a set of fingers is satisfied by any enrolled finger here. The item itself
    /// opens only if the set is the one that it was stored for.
    ///
    /// No evaluation satisfies an access control with `applicationPassword`, whether a password was set or not: the
    /// password is part of the item's key, and whether it is right shows when the item is read. The error is
    /// ``LAError/notInteractive``, and the person is not asked.
    ///
    /// - Parameters:
    ///   - accessControl: The access control of the item.
    ///   - operation: The operation that the program is about to do. Storing an item asks for nothing. Nothing
    ///     satisfies the use of a key whose access control lacks `privateKeyUsage`.
    ///   - localizedReason: The reason in the program's words.
    ///   - reply: The closure is called once, on a system queue: with true, or with false and the ``LAError`` that says
    ///     why not.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let alternatives: [Set<AuthenticationFactor>] =
            switch operation {
            case .createItem, .createKey: [[]]
            case .useItem: accessControl.accessControl.alternatives(for: .read)
            case .useKeySign, .useKeyDecrypt, .useKeyKeyExchange: accessControl.accessControl.alternatives(for: .use)
            }
        // Nothing but the item shows whether a password of the program's own is right.
        evaluate(alternatives.filter { !$0.contains(.applicationPassword) }, localizedReason, nil, reply)
    }

    /// Asks the person for the proofs that an access control wants, and waits without blocking a thread of the
    /// program's tasks.
    ///
    /// The method calls ``evaluateAccessControl(_:operation:localizedReason:reply:)``, so that a subclass overrides one
    /// method only.
    ///
    /// - Parameters:
    ///   - accessControl: The access control of the item.
    ///   - operation: The operation that the program is about to do.
    ///   - localizedReason: The reason in the program's words.
    /// - Returns: The value true, since any failure is thrown.
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

    /// Ends every question of this context, and forgets all that was shown.
    ///
    /// Every later evaluation fails with ``LAError/invalidContext``. An evaluation under way fails with
    /// ``LAError/appCancel``. If its answer was on its way already, the answer counts for nothing and the error is
    /// ``LAError/invalidContext``.
    open func invalidate() { session.invalidate() }

    /// Gives the keychain a password of the program's own, which becomes part of the key of items that ask for one.
    ///
    /// Such items have `SecAccessControlCreateFlags.applicationPassword`. The value nil takes the password away.
    ///
    /// - Parameters:
    ///   - credential: The password's bytes, or nil. The context keeps a copy, in memory that is erased at the end.
    ///   - type: The kind of credential, which is ``LACredentialType/applicationPassword``.
    /// - Returns: The value false for ``LACredentialType/smartCardPIN``, and for a context that was invalidated.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword, !isInvalidated else { return false }
        session.setApplicationPassword(credential.map { SecretBytes(copying: $0) })
        return true
    }

    /// Tells whether the context has a password of the program's own.
    ///
    /// An invalidated context has none. A password that the person typed for a call with this context counts too.
    ///
    /// - Parameter type: The kind of credential. Any kind but ``LACredentialType/applicationPassword`` is never set.
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
