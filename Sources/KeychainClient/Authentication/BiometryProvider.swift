public import FoundationEssentials
internal import KeychainCrypto
package import KeychainModel
internal import Synchronization

/// A reader of fingers or faces that a program brings along, such as a camera with a service that knows faces.
///
/// ```swift
/// final class HouseCamera: BiometryProvider {
///     var kind: KeychainBiometry.Kind { .face }
///     func enrolledSet() throws -> Data? { try service.digestOfKnownFaces() }
///     func verify(_ attempt: BiometryAttempt) throws -> Bool {
///         try attempt.withCancellationHandler({ service.stop() }, { try service.waitForKnownFace() })
///     }
/// }
/// KeychainBiometry.provider = HouseCamera()
/// ```
///
/// Only the embedded host asks it, in place of `fprintd`. A daemon asks its own reader.
///
/// The reader says yes or no and is no part of any key. It protects items from a person who sits at the program, and
/// protects no item from the program itself or from another program of the user.
///
/// The functions are called from several threads. There are never two verifications at once for one question.
public protocol BiometryProvider: AnyObject, Sendable {
    /// The kind of the reader, which decides the words that the person is shown.
    var kind: KeychainBiometry.Kind { get }

    /// Tells which fingers or faces are enrolled for the user, as bytes. It must not wait for a person.
    ///
    /// The bytes stay equal as long as the enrolled fingers or faces do, and differ after one of them was added,
    /// removed or replaced. Items for the *current set* (`SecAccessControlCreateFlags.biometryCurrentSet`) rely on
    /// this: a change that the bytes do not show leaves them readable.
    ///
    /// - Returns: Bytes of any length. `nil` means that no finger or face is enrolled.
    /// - Throws: Any error, if a person cannot be verified at the moment. The user is shown its description.
    func enrolledSet() throws -> Data?

    /// Waits until a person was seen, or until the attempt is cancelled.
    ///
    /// After five persons in a row who were not enrolled the keychain asks for the passcode first.
    ///
    /// - Parameter attempt: The attempt, which tells when it is cancelled.
    /// - Returns: Whether the person is enrolled. The answer of a cancelled attempt is ignored.
    /// - Throws: Any error, if the reader broke off. The user is shown its description.
    func verify(_ attempt: BiometryAttempt) throws -> Bool
}

/// The reader of fingers or faces that this program uses.
public enum KeychainBiometry {
    /// The kinds of readers: a fingerprint reader, and a camera that knows faces.
    public enum Kind: Sendable, Hashable, CaseIterable { case fingerprint, face }

    private static let chosen = Mutex<(any BiometryProvider)?>(nil)

    /// The program's own reader. `nil`, the default, means `fprintd`.
    ///
    /// Keychains that are opened afterwards take it, so set it before the first call. Any thread may read and set it.
    public static var provider: (any BiometryProvider)? {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }
}

/// One wait at a ``BiometryProvider``, which may be cancelled.
public struct BiometryAttempt: Sendable {
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) { self.cancellation = cancellation }

    /// Whether the answer is not needed any more: the person declined, or the program invalidated the context, or the
    /// task was cancelled.
    public var isCancelled: Bool { cancellation.isCancelled }

    /// Runs `body`, and calls `handler` once if the attempt is cancelled before or meanwhile.
    ///
    /// - Parameters:
    ///   - handler: Wakes the wait in `body`. It is called on another thread and must not block.
    ///   - body: Waits for a person.
    /// - Returns: The result of `body`.
    /// - Throws: An error of `body`.
    public func withCancellationHandler<R>(
        _ handler: @escaping @Sendable () -> Void, _ body: () throws -> R
    ) rethrows -> R {
        try cancellation.withHandler(handler, body)
    }
}

/// A program's own reader, as the engine asks it.
package final class ProvidedReader: BiometryReader {
    private let provider: any BiometryProvider

    package init(_ provider: any BiometryProvider) { self.provider = provider }

    package var kind: BiometryKind {
        switch provider.kind {
        case .fingerprint: .fingerprint
        case .face: .face
        }
    }

    package func enrolment() throws(BiometryFailure) -> BiometryEnrolment {
        let enrolled: Data?
        do { enrolled = try provider.enrolledSet() } catch { throw .notAvailable(text(of: error)) }
        guard let enrolled else { throw .notEnrolled("the program's reader knows nobody yet") }
        // The bytes have any length. The digest that is stored has a fixed one.
        return BiometryEnrolment(kind: kind, digest: EnrolmentDigest.of([Data("provided set 1".utf8), enrolled]))
    }

    package func verify(
        _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryEnrolment {
        // The enrolled set must be equal before and after, or it would be unclear which of the two the person belongs
        // to.
        let before = try enrolment()
        hint(BiometryHint(kind == .face ? "look at the camera" : "touch the fingerprint reader"))
        let isKnown: Bool
        do { isKnown = try provider.verify(BiometryAttempt(cancellation)) } catch {
            throw cancellation.isCancelled ? .cancelled : .failed(text(of: error))
        }
        if cancellation.isCancelled { throw .cancelled }
        guard isKnown else { throw .noMatch }
        guard try enrolment() == before else { throw .failed("what is enrolled changed meanwhile") }
        return before
    }
}
