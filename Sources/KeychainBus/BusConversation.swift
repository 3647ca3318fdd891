internal import Glibc
package import KeychainSystem

/// Why a call on the bus came to nothing.
package enum CallFailure: Error {
    /// The answer is a failure.
    case refused(BusFailure)
    /// The bus itself is lost.
    case lost(BusFailure)
    case noAnswer
    case cancelled
}

/// A connection to a bus, on which nothing is waited for without an end, and another thread can end every wait.
package final class BusConversation {
    private let bus: SystemBus
    private let wakeup: EventDescriptor
    private let clock = ContinuousClock()
    /// The messages that came during the wait for an answer, in their order.
    private var others: [BusMessage] = []

    package init(_ address: String, _ wakeup: EventDescriptor) throws(BusFailure) {
        bus = try SystemBus(address: address)
        self.wakeup = wakeup
    }

    /// Calls a method and waits for its answer.
    ///
    /// - Parameter isUrgent: Whether it is waited for even when it is cancelled.
    package func call(
        _ method: BusMethod, _ arguments: [String], for limit: Duration, isUrgent: Bool = false
    ) throws(CallFailure) -> [BusMessage.Value] {
        let cookie = try lost { () throws(BusFailure) in try bus.send(method, arguments) }
        return try answer(from: method.destination, cookie, for: limit, isUrgent)
    }

    /// Asks polkit, and waits for its answer and for the person that it may ask.
    package func call(_ check: AuthorizationCheck, for limit: Duration) throws(CallFailure) -> [BusMessage.Value] {
        let cookie = try lost { () throws(BusFailure) in try bus.send(check) }
        return try answer(from: check.destination, cookie, for: limit, false)
    }

    private func answer(
        from destination: String, _ cookie: UInt64, for limit: Duration, _ isUrgent: Bool
    ) throws(CallFailure) -> [BusMessage.Value] {
        let deadline = clock.now + limit
        while let message = try receive(until: deadline, isUrgent) {
            guard message.replyCookie == cookie, isBelieved(message, from: destination) else {
                others.append(message)
                continue
            }
            if let failure = message.failure { throw .refused(failure) }
            return try values(of: message)
        }
        throw .noAnswer
    }

    /// The next message that answers no call.
    ///
    /// - Returns: nil if none came in time.
    package func next(until deadline: ContinuousClock.Instant) throws(CallFailure) -> BusMessage? {
        others.isEmpty ? try receive(until: deadline, false) : others.removeFirst()
    }

    /// The values of a message, which gives them only once.
    package func values(of message: BusMessage) throws(CallFailure) -> [BusMessage.Value] {
        try lost { () throws(BusFailure) in try message.values() }
    }

    /// Forgets every message that came before the last answer.
    package func forgetOthers() { others = [] }

    /// The bus vouches for a message's sender, but may let any program send one that looks like an answer. The bus
    /// answers for itself, and for programs that are gone; the owner of a name like "org.example" is not known here.
    private func isBelieved(_ answer: BusMessage, from destination: String) -> Bool {
        let isKnown = destination.hasPrefix(":") || destination == BusMethod.busName
        return !isKnown || [destination, BusMethod.busName].contains(answer.sender)
    }

    private func receive(until deadline: ContinuousClock.Instant, _ isUrgent: Bool) throws(CallFailure) -> BusMessage? {
        while true {
            if let message = try lost({ () throws(BusFailure) in try bus.receive() }) { return message }
            let rest = clock.now.duration(to: deadline)
            if rest <= .zero { return nil }
            if try lost({ () throws(BusFailure) in try wait(for: rest, isUrgent) }) { throw .cancelled }
        }
    }

    /// Waits for something on the bus.
    ///
    /// - Returns: whether it is cancelled.
    private func wait(for duration: Duration, _ isUrgent: Bool) throws(BusFailure) -> Bool {
        let (descriptor, limit) = try bus.wait()
        // poll(2) passes over a negative descriptor.
        var waiting = [descriptor, pollfd(fd: isUrgent ? -1 : wakeup.number, events: Int16(POLLIN), revents: 0)]
        // Rounded up, so that it does not wake a moment too early and find nothing to do.
        let milliseconds = Int32(min((duration / .milliseconds(1)).rounded(.up), Double(Int32.max)))
        let ready = poll(&waiting, nfds_t(waiting.count), limit < 0 ? milliseconds : min(limit, milliseconds))
        if ready < 0 && errno != EINTR { throw BusFailure(String(cString: strerror(errno)), number: errno) }
        return ready > 0 && waiting[1].revents != 0
    }

    private func lost<R>(_ body: () throws(BusFailure) -> R) throws(CallFailure) -> R {
        do throws(BusFailure) { return try body() } catch { throw .lost(error) }
    }
}
