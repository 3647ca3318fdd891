internal import KeychainModel
internal import KeychainSystem
internal import Logging
internal import Synchronization

/// The thread that waits for changes of the store and for due work: it locks keys away that were not used for too long,
/// removes expired items, and wakes subscribers. While nothing happens and nothing is due it sleeps.
final class Housekeeper: Sendable {
    /// Many changes in a row are told at most this often.
    private static let pause = Duration.milliseconds(5)
    /// After a failure, which is likely to be there still.
    private static let retryInterval = Duration.seconds(5)
    private static let removalRetryInterval = Duration.seconds(300)

    private let engine: any ChangeSource
    private let subscribers: Subscribers
    private let logger: Logger
    private let end = EndFlag()
    private let hasEnded = EndFlag()
    /// Why expired items could not be removed, as it was last said.
    private let removalFailure = Mutex<String?>(nil)

    init(_ engine: any ChangeSource, _ subscribers: Subscribers, _ logger: Logger) {
        self.engine = engine
        self.subscribers = subscribers
        self.logger = logger
    }

    func start() throws(KeychainError) {
        try WorkerThread.start("housekeeper") { [self] in
            run()
            hasEnded.set()
        }
    }

    /// Returns when it has ended, or after a few seconds.
    func stop() {
        end.set()
        engine.stopWaiting()
        hasEnded.wait(for: .seconds(5))
    }

    private func run() {
        var lastFailure: String?
        while !end.isSet {
            do throws(KeychainError) {
                try watch()
            } catch {
                // The message stays the same for as long as the failure does.
                if error.message != lastFailure {
                    logger.error("the store is not looked after", metadata: ["reason": "\(error.message)"])
                }
                lastFailure = error.message
                end.wait(for: Self.retryInterval)
            }
        }
    }

    /// A failure is no reason to leave the lock or the subscribers alone.
    ///
    /// - Returns: the time until the next look at the latest; nil: not before the next change.
    private func removeExpired() -> Duration? {
        do throws(KeychainError) {
            let due = try engine.removeExpiredIfDue()
            removalFailure.withLock { $0 = nil }
            return due
        } catch {
            let isNews = removalFailure.withLock { former in
                defer { former = error.message }
                return former != error.message
            }
            if isNews { logger.error("expired items stay", metadata: ["reason": "\(error.message)"]) }
            return Self.removalRetryInterval
        }
    }

    private func watch() throws(KeychainError) {
        var position = try engine.position()
        while !end.isSet {
            // Also before the first wait: until the position was known, changes went unnoticed.
            subscribers.wake()
            end.wait(for: Self.pause)
            let due = [try engine.lockIfDue(), removeExpired()].compactMap(\.self).min()
            position = try engine.waitForChange(after: position, timeout: due)
        }
    }
}

/// Whether something is to end, for a thread that waits for it.
final class EndFlag: @unchecked Sendable {  // the condition guards all variables
    private let condition = Condition()
    private var value = false

    var isSet: Bool { condition.withLock { value } }

    func set() {
        condition.withLock {
            value = true
            condition.broadcast()
        }
    }

    /// Returns when it is set, or the time is over.
    func wait(for time: Duration) {
        let end = ContinuousClock.now + time
        condition.withLock {
            while !value, condition.wait(until: end) {}
        }
    }
}
