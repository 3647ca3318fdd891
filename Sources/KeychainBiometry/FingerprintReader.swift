package import Glibc
internal import KeychainBus
package import KeychainModel
internal import KeychainSystem

/// The machine's fingerprint reader, through fprintd, which it asks over the system's message bus.
///
/// A yes is worth as much as the bus and fprintd, which root runs: only signals of the connection that owns fprintd's
/// name are believed, and only about the reader that was claimed. A program that can make this process use another bus,
/// or run its code another way, can say yes itself.
///
/// Two facts are hidden by fprintd, so that the digest of an enrolment cannot show them: a finger that is deleted and
/// another one enrolled under the same name, and which of two readers of one model it is.
package final class FingerprintReader: BiometryReader {
    package let kind = BiometryKind.fingerprint

    private let busAddress: String
    private let limits: FingerprintLimits
    private let person: FingerprintPerson

    package init(busAddress: String = SystemBus.systemAddress, limits: FingerprintLimits = FingerprintLimits()) {
        self.busAddress = busAddress
        self.limits = limits
        person = FingerprintPerson(user: geteuid(), name: "")
    }

    /// A reader for another user than that of this process, which fprintd has to allow
    /// (`net.reactivated.fprint.device.setusername`).
    package init(of user: uid_t, named name: String) {
        busAddress = SystemBus.systemAddress
        limits = FingerprintLimits()
        person = FingerprintPerson(user: user, name: name)
    }

    /// The enrolment on the first reader that has a finger of this user. It takes moments; if fprintd has to start, or
    /// does not answer, ``FingerprintLimits/answer`` for each of a few questions at most.
    ///
    /// - Throws: `.notAvailable`, `.notEnrolled` or `.failed`.
    package func enrolment() throws(BiometryFailure) -> BiometryEnrolment {
        try FingerprintService(busAddress, limits, person, EventDescriptor.make()).device().enrolment
    }

    /// Waits for a finger, on the first reader that has one of this user enrolled.
    ///
    /// fprintd ends a verification with the first finger that does not match. Up to ``FingerprintLimits/attempts`` of them
    /// belong to one call here, as one touch too many says little.
    ///
    /// - Throws: `.notAvailable`, `.notEnrolled`, `.busy`, `.noMatch`, `.cancelled`, `.timedOut` or `.failed`. However it
    ///   ends, the reader is released.
    package func verify(
        _ cancellation: Cancellation, hint: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryEnrolment {
        // The bus's messages are read before a cancellation is looked for.
        if cancellation.isCancelled { throw .cancelled }
        let wakeup = try EventDescriptor.make()
        return try cancellation.withHandler({ wakeup.set() }) { () throws(BiometryFailure) in
            let service = try FingerprintService(busAddress, limits, person, wakeup)
            return try Verification(service, limits).run(hint)
        }
    }
}

/// The user whose fingers are looked for.
struct FingerprintPerson {
    let user: uid_t
    /// As fprintd has it: empty for the user of this process.
    let name: String
}

extension EventDescriptor {
    fileprivate static func make() throws(BiometryFailure) -> EventDescriptor {
        do throws(SystemError) { return try EventDescriptor() } catch { throw .failed(error.message) }
    }
}
