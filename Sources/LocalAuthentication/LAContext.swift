@_exported public import Foundation
internal import Synchronization

/// The pointer through which a method reports an error; Linux Foundation lacks the name.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// The longest time that an unlock with a finger may be reused for.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// How a program authenticates the person in front of the machine, or says that it does not want to ask.
///
/// Nothing on Linux answers for a person yet: no policy can be evaluated, and every evaluation fails with
/// an ``LAError`` that says so. It never succeeds without a person. What works is handing a context to the
/// keychain, under `kSecUseAuthenticationContext`, to forbid questions.
///
/// A context may be used from several threads.
open class LAContext: NSObject, @unchecked Sendable {  // everything that varies is behind the lock
    private struct State {
        var localizedFallbackTitle: String?
        var localizedCancelTitle: String?
        var localizedReason = ""
        var isInteractionNotAllowed = false
        var reuseDuration: TimeInterval = 0
        var isInvalidated = false
    }

    private let state = Mutex(State())

    override public init() { super.init() }

    open var localizedFallbackTitle: String? {
        get { state.withLock { $0.localizedFallbackTitle } }
        set { state.withLock { $0.localizedFallbackTitle = newValue } }
    }

    open var localizedCancelTitle: String? {
        get { state.withLock { $0.localizedCancelTitle } }
        set { state.withLock { $0.localizedCancelTitle = newValue } }
    }

    /// The reason shown to the person where a call does not give one.
    open var localizedReason: String {
        get { state.withLock { $0.localizedReason } }
        set { state.withLock { $0.localizedReason = newValue } }
    }

    /// Whether an operation that would have to ask the person fails instead.
    open var interactionNotAllowed: Bool {
        get { state.withLock { $0.isInteractionNotAllowed } }
        set { state.withLock { $0.isInteractionNotAllowed = newValue } }
    }

    /// Kept and without effect: there is no unlock with a finger to reuse.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set { state.withLock { $0.reuseDuration = newValue } }
    }

    /// Always ``LABiometryType/none``.
    open var biometryType: LABiometryType { .none }

    /// Always nil: there is no set of enrolled fingers or faces to tell from another.
    open var evaluatedPolicyDomainState: Data? { nil }

    /// Whether the policy could be evaluated now.
    ///
    /// - Parameters:
    ///   - policy: What would be asked.
    ///   - error: Receives the ``LAError`` that says why not.
    /// - Returns: false.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        error?.pointee = obstacle(to: policy)._nsError
        return false
    }

    /// Asks the person, on a queue of the system's, whether the policy is satisfied.
    ///
    /// - Parameters:
    ///   - policy: What is asked.
    ///   - localizedReason: The text that the person would see.
    ///   - reply: Called once with false and the ``LAError`` that says why nobody can be asked.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let error = obstacle(to: policy)
        DispatchQueue.global().async { reply(false, error) }
    }

    /// Asks the person whether the policy is satisfied, through
    /// ``evaluatePolicy(_:localizedReason:reply:)``, so that a subclass overrides one method only.
    ///
    /// - Throws: The ``LAError`` that says why nobody can be asked.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { success, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(success))
            }
        }
    }

    /// Ends the use of the context: from now on every evaluation fails with ``LAError/invalidContext``.
    open func invalidate() {
        state.withLock { $0.isInvalidated = true }
    }

    /// Accepts no credential.
    ///
    /// - Returns: false.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool { false }

    /// - Returns: false, because ``setCredential(_:type:)`` accepts none.
    open func isCredentialSet(_ type: LACredentialType) -> Bool { false }

    package var isInvalidated: Bool { state.withLock { $0.isInvalidated } }
}
