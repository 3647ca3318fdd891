internal import Glibc
internal import KeychainSystem

/// Why something that was waited for did not come.
enum WaitFailure: Error {
    case cancelled
    case timedOut
    /// The errno of the kernel's refusal.
    case system(Int32)
}

/// Waits in the kernel for one descriptor, unless something comes before it.
struct Wait {
    /// The event that cancels the wait.
    let wake: EventDescriptor

    /// Returns when the descriptor has one of these events (poll(2)), or an error or an end to be read from it.
    ///
    /// - Parameter deadline: nil: there is none.
    func `for`(_ descriptor: Int32, _ events: Int32, until deadline: ContinuousClock.Instant?) throws(WaitFailure) {
        while true {
            var waiting = [
                pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
            ]
            let ready = poll(&waiting, 2, Self.milliseconds(until: deadline))
            if ready < 0 {
                if errno == EINTR { continue }
                throw .system(errno)
            }
            // The cancellation comes first, also before an answer that is there already.
            if waiting[0].revents != 0 { throw .cancelled }
            if waiting[1].revents != 0 { return }
            if let deadline, ContinuousClock.now >= deadline { throw .timedOut }
        }
    }

    /// As poll(2) takes it: rounded up, and no more than a minute, after which the loop comes round again.
    static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        if left <= .zero { return 0 }
        return Int32((min(left, .seconds(60)) / .milliseconds(1)).rounded(.up))
    }
}
