internal import Glibc
internal import KeychainBus
internal import KeychainModel
package import KeychainSystem

/// Locks a keychain when the session is locked, when the system sleeps, and when nothing can watch it any more.
///
/// Everything happens on the thread that calls ``run()``.
package final class SessionWatcher {
    /// The receivers of messages.
    package struct Log {
        package var event: (String) -> Void
        package var trouble: (String) -> Void

        package init(event: @escaping (String) -> Void, trouble: @escaping (String) -> Void) {
            self.event = event
            self.trouble = trouble
        }
    }

    /// How soon a lock that failed is tried again.
    private static let retryInterval = Duration.seconds(20)

    private let store: any LockableStore
    private let login: LoginManager
    private let stop: OpenDescriptor
    private let interval: Duration
    private let endsWithSessions: Bool
    private let log: Log

    /// While it is there the system waits with its sleep.
    private var inhibitor: OpenDescriptor?
    /// A lock that failed. Until it succeeds the lease is not renewed, so that the kernel takes the keys.
    private var owed: LockRequest?
    /// Why there is nothing to lock, as it was last said. It may be so for hours, and is not repeated.
    private var lastAbsence: String?
    /// Why the lease could not be renewed, as it was last said.
    private var lastLeaseTrouble: String?

    /// - Parameters:
    ///   - stop: Becomes readable when the watcher is to end.
    ///   - interval: How often sessions are looked at anew and the lease is renewed, which lasts for a minute.
    ///   - endsWithSessions: Whether it ends when the last session has. If not, it locks the keychain then and waits for
    ///     the next session.
    package init(
        _ store: any LockableStore, _ login: LoginManager, stop: OpenDescriptor, interval: Duration,
        endsWithSessions: Bool = true, log: Log
    ) {
        self.store = store
        self.login = login
        self.stop = stop
        self.interval = interval
        self.endsWithSessions = endsWithSessions
        self.log = log
    }

    /// Watches until it is told to end or the last session has ended.
    ///
    /// - Parameter isReady: Called once, when everything from now on is noticed.
    /// - Throws: a ``BusFailure`` if the bus or logind is lost, or the reason why the keychain cannot be locked at the
    ///   end. However it ends, the keychain is locked first.
    package func run(isReady: () -> Void) throws {
        do {
            begin()
            isReady()
            try watch()
        } catch let failure as BusFailure {
            log.trouble("systemd-logind is lost: \(failure.text)")
            try lockAtEnd(because: "nobody would tell when the session is locked")
            throw failure
        }
    }

    private func begin() {
        delaySleep()
        renewLease()
        log.event("watching \(login.subject)")
        if login.isAnyLocked { lock(.withGrace, because: "the session is locked already") }
    }

    /// - Throws: a ``BusFailure``, and the errors of ``lockAtEnd(because:)``.
    private func watch() throws {
        let clock = ContinuousClock()
        var lastTick = clock.now
        while true {
            while let event = try login.nextEvent() {
                guard try react(to: event) else { return }
            }
            if clock.now >= lastTick + tickInterval {
                if let event = try login.review(), try !react(to: event) { return }
                tick()
                lastTick = clock.now
            }
            if try wait(for: clock.now.duration(to: lastTick + tickInterval)) {
                return try lockAtEnd(because: "asked to end")
            }
        }
    }

    private var tickInterval: Duration { owed == nil ? interval : min(interval, Self.retryInterval) }

    /// Waits for something on the bus, for a while at most.
    ///
    /// - Returns: whether the watcher is to end.
    private func wait(for duration: Duration) throws(BusFailure) -> Bool {
        let (descriptor, limit) = try login.wait()
        var waiting = [pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0), descriptor]
        // Rounded up, so that it does not wake a moment too early and find nothing to do.
        let milliseconds = Int32(max(0, (duration / .milliseconds(1)).rounded(.up)))
        let ready = poll(&waiting, nfds_t(waiting.count), limit < 0 ? milliseconds : min(limit, milliseconds))
        if ready < 0 && errno != EINTR { throw BusFailure(String(cString: strerror(errno)), number: errno) }
        return ready > 0 && waiting[0].revents != 0
    }

    /// - Returns: false if there is nothing left to watch.
    private func react(to event: LoginManager.Event) throws -> Bool {
        switch event {
        case .lockRequested: lock(.withGrace, because: "the session is to be locked")
        case .locked: lock(.withGrace, because: "the session is locked")
        case .unlockRequested:
            log.event("the session is unlocked; a locked keychain stays locked until 'keychainctl unlock' opens it")
        case .goingToSleep: giveWay(because: "the system is about to sleep")
        case .shuttingDown: giveWay(because: "the system is about to shut down")
        case .awake: resume(because: "the system is awake")
        case .shutdownCancelled: resume(because: "the system does not shut down after all")
        case .sessionsEnded:
            guard endsWithSessions else {
                lock(.now, because: "the last session has ended")
                break
            }
            try lockAtEnd(because: "the session has ended")
            return false
        case .gone: throw BusFailure("it was stopped or started anew", number: ECONNRESET)
        }
        return true
    }

    /// Locks, and then lets the system go on.
    private func giveWay(because reason: String) {
        lock(.now, because: reason)
        inhibitor = nil
    }

    private func resume(because reason: String) {
        log.event(reason)
        if inhibitor == nil { delaySleep() }
        tick()
    }

    private func delaySleep() {
        do throws(BusFailure) {
            inhibitor = try login.delaySleep()
        } catch {
            log.trouble("the system's sleep will not wait until the keychain is locked: \(error.text)")
        }
    }

    private func tick() {
        if let owed { lock(owed, because: "trying again") }
        if owed == nil { renewLease() }
    }

    // MARK: The store

    private func lock(_ request: LockRequest, because reason: String) {
        do throws(KeychainError) {
            try attemptLock(request, because: reason)
        } catch {
            owed = request
            log.trouble("\(reason), but the keychain cannot be locked: \(error.message)")
        }
    }

    private func lockAtEnd(because reason: String) throws(KeychainError) {
        try attemptLock(.now, because: reason)
    }

    /// - Throws: the reason why it cannot be locked, unless there is nothing to lock.
    private func attemptLock(_ request: LockRequest, because reason: String) throws(KeychainError) {
        do throws(KeychainError) {
            try store.lock(request)
            lastAbsence = nil
            log.event("\(reason): the keychain is locked")
        } catch  where error.meansNothingToLock {
            log.event(reason)
            sayNothingToLock(error)
        }
        owed = nil
    }

    private func renewLease() {
        do throws(KeychainError) {
            try store.renewLease()
            lastLeaseTrouble = nil
        } catch  where error.meansNothingToLock {
            sayNothingToLock(error)
        } catch {
            if error.message != lastLeaseTrouble {
                log.trouble("cannot tell the keychain that it is watched: \(error.message)")
            }
            lastLeaseTrouble = error.message
        }
    }

    private func sayNothingToLock(_ error: KeychainError) {
        if error.message != lastAbsence { log.event("there is nothing to lock: \(error.message)") }
        lastAbsence = error.message
    }
}

extension KeychainError {
    /// Whether there is no passcode or no store, either of which may be there later.
    fileprivate var meansNothingToLock: Bool { code == .noPasscode || code == .itemNotFound }
}
