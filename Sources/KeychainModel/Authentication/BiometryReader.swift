/// The trait that a reader looks at.
package enum BiometryKind: UInt8, Sendable, Hashable, CaseIterable {
    case fingerprint = 1
    case face = 2
}

/// A reader's knowledge of a person at some moment.
package struct BiometryEnrolment: Sendable, Hashable {
    package var kind: BiometryKind
    /// 32 bytes that change when fingers or faces are enrolled or removed, as far as the reader reveals that.
    package var digest: [UInt8]

    package static let digestByteCount = 32

    package init(kind: BiometryKind, digest: [UInt8]) {
        self.kind = kind
        self.digest = digest
    }
}

/// Why a reader does not say yes.
package enum BiometryFailure: Error, Sendable, Hashable {
    /// There is no reader, or no program that runs it. The text says what is missing, and what to do about it.
    case notAvailable(String)
    /// There is a reader, and it knows nothing of this person.
    case notEnrolled(String)
    /// Another program is using the reader.
    case busy(String)
    /// It looked, as often as it does, at something that is not enrolled.
    case noMatch
    /// The reader has looked too often already at fingers or faces that are not enrolled: the passcode is wanted first.
    case lockedOut
    case cancelled
    /// The person did not come.
    case timedOut
    /// The reader broke off.
    case failed(String)
}

/// The words for the person while a reader waits.
package struct BiometryHint: Sendable, Hashable {
    /// A sentence without a full stop at its end: "touch the fingerprint reader".
    package var text: String

    package init(_ text: String) { self.text = text }
}

/// A reader of fingers or faces. A reader says yes or no; it yields no key.
///
/// Its functions may be called from several threads.
package protocol BiometryReader: AnyObject, Sendable {
    var kind: BiometryKind { get }

    /// The present enrolment of the user of this process. Waits for no person.
    ///
    /// - Throws: `.notAvailable`, `.notEnrolled` or `.failed`.
    func enrolment() throws(BiometryFailure) -> BiometryEnrolment

    /// Waits until the reader has seen something that is enrolled.
    ///
    /// - Parameter hint: Called on this thread with words for the person, first of all once, and again when the reader
    ///   could not see well enough.
    /// - Returns: the enrolment at the moment of the match.
    func verify(
        _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryEnrolment
}
