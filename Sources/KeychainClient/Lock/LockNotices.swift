internal import Dispatch
package import KeychainModel

/// The lock waits for the end of this object, for three seconds at most.
package final class LockNotice: Sendable {
    /// How long it is kept from going back at most. A parameter, so that tests, whose clock stands still, can be slow.
    @TaskLocal package static var patience = LockStatus.noticeLength

    private let end: DispatchSemaphore

    fileprivate init(_ end: DispatchSemaphore) { self.end = end }

    deinit { end.signal() }
}

/// The fate of the keys that are there while unlocked.
package enum LockEvent: Sendable {
    /// They go as soon as the notice is given back.
    case willLock(LockNotice)
    case didLock
    case didUnlock
}

/// Listens for locks, so that they are announced and wait until it has told of them.
final class LockNoticeFollower: LockFollower, @unchecked Sendable {  // one thread has it
    private enum Told { case available, leaving, unavailable }

    private let connection: Connection
    private let patience = LockNotice.patience
    /// nil: no thread waits for this at the moment.
    private var listener: (any LockListener)?
    private var epoch: UInt64
    private var told: Told

    init(_ connection: Connection) {
        self.connection = connection
        // The listener comes before the look: a lock after it waits.
        listener = Self.listener(connection)
        guard let status = try? connection.lockStatus() else {
            (epoch, told) = (0, .unavailable)
            return
        }
        // A lock that was announced already is told at once.
        epoch = status.isLocking ? status.epoch &- 1 : status.epoch
        told = status.state == .unlocked ? .available : .unavailable
    }

    /// If no listener can be had, as on a read-only disk, locks are told of when they have happened.
    private static func listener(_ connection: Connection) -> (any LockListener)? {
        do throws(KeychainError) {
            return try connection.listenForLocks()
        } catch {
            return nil
        }
    }

    func look(_ tell: (LockEvent) -> Void) throws(KeychainError) {
        let former = epoch
        epoch = try nextEpoch()
        let status = try connection.lockStatus()
        let present: Told =
            status.state != .unlocked ? .unavailable : status.isLocking ? .leaving : .available
        if present != told {
            told = present
            switch present {
            case .available: tell(.didUnlock)
            case .unavailable: tell(.didLock)
            case .leaving: wait(for: giveNotice(tell))
            }
        }
        if status.isLocking {
            end()
        } else if epoch != former || listener == nil {
            // Anew with each epoch, in which the store may have another host; the new one first, so that none is missed.
            listener = Self.listener(connection)
        }
    }

    /// Files do not open while the keychain cannot be looked at.
    func goesOn(after _: KeychainError, _ tell: (LockEvent) -> Void) -> Bool {
        end()
        if told != .unavailable { tell(.didLock) }
        told = .unavailable
        return true
    }

    private func nextEpoch() throws(KeychainError) -> UInt64 {
        if let listener {
            do throws(KeychainError) {
                return try listener.waitForChange(since: epoch, timeout: .lockFeedPause)
            } catch {
                // A daemon that was started anew knows nothing of it; whether there is one is seen by asking.
                end()
            }
        }
        return try connection.waitForLockChange(since: epoch, timeout: .lockFeedPause)
    }

    // MARK: Notices

    /// - Returns: given when the receiver has done its work. The notice itself is not kept here.
    private func giveNotice(_ tell: (LockEvent) -> Void) -> DispatchSemaphore {
        let end = DispatchSemaphore(value: 0)
        tell(.willLock(LockNotice(end)))
        return end
    }

    private func wait(for end: DispatchSemaphore) {
        let time = Int(patience / .milliseconds(1))
        _ = end.wait(timeout: .now() + .milliseconds(time))
    }

    func end() {
        listener?.end()
        listener = nil
    }
}

extension Connection {
    /// Each lock and unlock from now on, with a notice before each lock that gives one. As long as a program holds the
    /// stream, such a lock waits for it. A keychain that cannot be looked at counts as locked.
    package var lockEvents: AsyncStream<LockEvent> {
        LockFeed.stream(by: LockNoticeFollower(self), as: { $0 })
    }

    /// Each change of the lock's state from now on. A keychain that cannot be looked at counts as locked.
    ///
    /// - Parameter event: The caller's own word for a state.
    package func lockChanges<Event>(as event: @escaping @Sendable (LockState) -> Event) -> AsyncStream<Event> {
        LockFeed.stream(by: LockStateFollower(self, lost: .locked) { $0.state }, as: event)
    }
}
