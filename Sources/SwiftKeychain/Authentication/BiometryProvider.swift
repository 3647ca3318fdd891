public import Foundation
internal import KeychainCrypto
package import KeychainModel
internal import Synchronization

/// A reader of fingers or faces that a program brings along: a camera with a service that knows faces, for instance, for
/// which Linux has no common one.
///
/// ```swift
/// KeychainBiometry.provider = HouseCamera()
/// ```
///
/// It is asked in the embedded host alone, in place of `fprintd`; a daemon asks its own. It says yes or no and is no part
/// of any key, so that it protects items from whoever sits at the program, and nothing from the program itself.
///
/// Its functions are called from several threads, never two verifications at once for one question.
public protocol BiometryProvider: AnyObject, Sendable {
    var kind: KeychainBiometry.Kind { get }

    /// Bytes that stay the same as long as the same fingers or faces are enrolled for the user, and are others after any of
    /// them was added, removed or replaced; nil if none is. Waits for no person.
    ///
    /// Items for the *current set* (`SecAccessControlCreateFlags.biometryCurrentSet`) are worth what this is worth: what it
    /// does not tell apart, they do not.
    ///
    /// - Throws: any error: nobody can be verified at the moment. Its description is shown.
    func enrolledSet() throws -> Data?

    /// Waits until somebody was seen, or the attempt is cancelled.
    ///
    /// - Returns: whether that was somebody who is enrolled. After five in a row that were not, the passcode is wanted first.
    /// - Throws: any error: the reader broke off. Its description is shown.
    func verify(_ attempt: BiometryAttempt) throws -> Bool
}

/// Where a program says which reader it brings along.
public enum KeychainBiometry {
    public enum Kind: Sendable, Hashable, CaseIterable { case fingerprint, face }

    private static let chosen = Mutex<(any BiometryProvider)?>(nil)

    /// nil, as it is at first: `fprintd`. It is taken by keychains that are opened afterwards.
    public static var provider: (any BiometryProvider)? {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }
}

/// One wait at a ``BiometryProvider``.
public struct BiometryAttempt: Sendable {
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) { self.cancellation = cancellation }

    /// Whether nobody waits for the answer any more: the person declined, or the program invalidated the context.
    public var isCancelled: Bool { cancellation.isCancelled }

    /// Runs `body`, and calls `handler` once if the attempt is cancelled before or meanwhile: to wake what `body` waits
    /// for. It is called on another thread, and must not block.
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
        do { enrolled = try provider.enrolledSet() } catch { throw .notAvailable("\(error.localizedDescription)") }
        guard let enrolled else { throw .notEnrolled("the program's reader knows nobody yet") }
        // Of any length, so that what is stored has one.
        return BiometryEnrolment(kind: kind, digest: EnrolmentDigest.of([Data("provided set 1".utf8), enrolled]))
    }

    package func verify(
        _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryEnrolment {
        // What is enrolled before and after must be the same, or nobody knows which of the two was seen.
        let before = try enrolment()
        hint(BiometryHint(kind == .face ? "look at the camera" : "touch the fingerprint reader"))
        let isKnown: Bool
        do { isKnown = try provider.verify(BiometryAttempt(cancellation)) } catch {
            throw cancellation.isCancelled ? .cancelled : .failed("\(error.localizedDescription)")
        }
        if cancellation.isCancelled { throw .cancelled }
        guard isKnown else { throw .noMatch }
        guard try enrolment() == before else { throw .failed("what is enrolled changed meanwhile") }
        return before
    }
}
