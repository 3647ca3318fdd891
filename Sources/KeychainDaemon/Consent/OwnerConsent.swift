internal import Glibc
internal import KeychainModel

/// Asks the owner of a store without a passcode whether a program may act as the owner. The program has no part in it: no
/// client relays a yes.
protocol OwnerConsent: Sendable {
    /// Waits for the owner's consent to one request, as long as the person may take.
    ///
    /// - Parameter process: A process that cannot end unnoticed while it is asked for.
    /// - Throws: `.userCancelled`, also after a cancellation, or `.authenticationFailed`. Without an agent in the person's
    ///   session it throws `.interactionNotAllowed`, and without polkit `.missingEntitlement`.
    func ask(for process: ConsentingProcess, _ cancellation: Cancellation) throws(KeychainError)
}

/// A process, as polkit tells it from a later one with its number.
struct ConsentingProcess: Sendable, Hashable {
    let pid: Int32
    let uid: UInt32
    /// When it was started, in the kernel's ticks since the system was.
    let start: UInt64
}

extension ConsentingProcess {
    /// nil: there is no such process.
    init?(pid: Int32, uid: UInt32) {
        guard let seconds = ProcessStart.time(of: pid) else { return nil }
        // A whole number, which has come back from a division.
        let ticks = UInt64((seconds * Double(sysconf(Int32(_SC_CLK_TCK)))).rounded())
        self.init(pid: pid, uid: uid, start: ticks)
    }
}
