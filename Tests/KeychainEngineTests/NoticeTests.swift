import Foundation
import Glibc
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// The notice before a lock.
@Suite struct NoticeTests {
    private func withPasscode(
        _ host: KeychainHost, policy: PasscodePolicy = PasscodePolicy(), _ body: (TestKeychain) throws -> Void
    ) throws {
        try withKeychain(host) { keychain in
            try keychain.handler.add(.password("a"))
            try keychain.setPasscode("1234")
            _ = try keychain.handler.handle(.passcode(.setPolicy(policy, passcode: .of("1234"))), from: caller)
            try body(keychain)
        }
    }

    // MARK: Locks

    @Test(
        "A lock waits until nobody listens any more, and the keys are there until then",
        arguments: KeychainHost.allCases)
    func waits(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            let other = try keychain.handler.listenForLocks()
            let epoch = try keychain.lockStatus.epoch
            let lock = Background { try keychain.lock() }
            let announced = try listener.waitForChange(since: epoch, timeout: .seconds(60))
            #expect(announced != epoch)
            #expect(try other.waitForChange(since: epoch, timeout: .seconds(60)) == announced)
            let status = try keychain.lockStatus
            #expect(status.isLocking && status.state == .unlocked && status.epoch == announced)
            #expect(try keychain.handler.secret(of: "a") == "secret")
            listener.end()
            try keychain.awaitLooks(by: lock)
            #expect(!lock.hasEnded)
            #expect(try keychain.handler.secret(of: "a") == "secret")
            other.end()
            try lock.wait()
            #expect(try keychain.lockStatus.state == .locked)
            #expect(try !keychain.lockStatus.isLocking)
            #expect(throws: KeychainError.self) { try keychain.handler.secret(of: "a") }
        }
    }

    @Test(
        "Whoever never gives back delays a lock until the time is over, and not longer",
        arguments: KeychainHost.allCases)
    func neverGivenBack(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            let lock = Background { try keychain.lock() }
            try keychain.awaitAnnouncement()
            keychain.clock.advance(by: 2.9)
            try keychain.awaitLooks(by: lock)
            #expect(!lock.hasEnded)
            #expect(try keychain.lockStatus.state == .unlocked)
            keychain.clock.advance(by: 0.2)
            try lock.wait()
            #expect(try keychain.lockStatus.state == .locked)
            withExtendedLifetime(listener) {}
        }
    }

    @Test("Whoever is gone delays nothing", arguments: KeychainHost.allCases)
    func gone(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            for _ in 0..<3 { _ = try keychain.handler.listenForLocks() }
            let ended = try keychain.handler.listenForLocks()
            ended.end()
            ended.end()
            // A daemon sees a little later that a connection is closed.
            try awaitThat("nobody listens") { !keychain.engine.keys.state.hasListeners }
            try keychain.expectNoNotice { try keychain.lock() }
        }
    }

    @Test("With nobody to tell there is no announcement", arguments: KeychainHost.allCases)
    func nobody(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in try keychain.expectNoNotice { try keychain.lock() } }
    }

    @Test("A lock for now gives no notice, and ends one that was given", arguments: KeychainHost.allCases)
    func now(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            try keychain.expectNoNotice { try keychain.lock(.now) }
            try keychain.unlock("1234")
            let lock = Background { try keychain.lock() }
            try keychain.awaitAnnouncement()
            try keychain.lock(.now)
            #expect(try keychain.lockStatus.state == .locked)
            try lock.wait()
            withExtendedLifetime(listener) {}
        }
    }

    @Test(
        "A lock that was overtaken by another one does not undo the unlock after that", arguments: KeychainHost.allCases
    )
    func overtaken(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            let lock = Background { try keychain.lock() }
            try keychain.awaitAnnouncement()
            try keychain.lock(.now)
            try keychain.unlock("1234")
            try lock.wait()
            #expect(try keychain.lockStatus.state == .unlocked)
            withExtendedLifetime(listener) {}
        }
    }

    @Test("A second lock adds no time to that of the first", arguments: KeychainHost.allCases)
    func second(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            let first = Background { try keychain.lock() }
            try keychain.awaitAnnouncement()
            let epoch = try keychain.lockStatus.epoch
            keychain.clock.advance(by: 2)
            let second = Background { try keychain.lock() }
            try keychain.awaitLooks(by: first, second)
            #expect(!first.hasEnded && !second.hasEnded)
            #expect(try keychain.lockStatus.epoch == epoch, "the second one is not announced anew")
            // The clock stands still from now on. How large a step each takes is not told: a lock that cannot have its turn
            // at the record within a tenth of a second of real time goes ahead without it.
            keychain.clock.advance(by: 1.1)
            try first.wait()
            try second.wait()
            #expect(try keychain.lockStatus.state == .locked)
            withExtendedLifetime(listener) {}
        }
    }

    @Test("An unlock while a lock is announced does not keep it from coming", arguments: KeychainHost.allCases)
    func unlockMeanwhile(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            let lock = Background { try keychain.lock() }
            try keychain.awaitAnnouncement()
            try keychain.unlock("1234")
            #expect(try keychain.lockStatus.isLocking)
            listener.end()
            try lock.wait()
            #expect(try keychain.lockStatus.state == .locked)
        }
    }

    @Test("A keychain that is locked, or has no passcode, has nothing to announce", arguments: KeychainHost.allCases)
    func nothingToLock(host: KeychainHost) throws {
        try withKeychain(host) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            expectNoPasscode(keychain)
            try keychain.setPasscode("1234")
            try keychain.lock(.now)
            try keychain.expectNoNotice { try keychain.lock() }
            withExtendedLifetime(listener) {}
        }
    }

    private func expectNoPasscode(_ keychain: TestKeychain) {
        let error = #expect(throws: KeychainError.self) { try keychain.lock() }
        #expect(error?.code == .noPasscode)
    }

    @Test("An announcement whose maker was killed lapses, and the next lock gives notice again")
    func lapses() throws {
        try withPasscode(.embedded) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            _ = try #require(keychain.engine.keys.announce(until: nil))
            #expect(try keychain.lockStatus.isLocking)
            keychain.clock.advance(by: 4.1)
            #expect(try !keychain.lockStatus.isLocking)
            #expect(try keychain.lockStatus.state == .unlocked)
            let lock = Background { try keychain.lock() }
            try keychain.awaitAnnouncement()
            listener.end()
            try lock.wait()
        }
    }

    @Test("The keys go whatever is wrong with the files")
    func trouble() throws {
        try withPasscode(.embedded) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            try Data(count: 100).write(to: keychain.directory.appendingPathComponent("store/keybag"))
            #expect(throws: KeychainError.self) { try keychain.lock() }
            #expect(throws: KeychainError.self) { try keychain.engine.secret(of: "a") }
            withExtendedLifetime(listener) {}
        }
    }

    @Test("A program that was stopped while it changed the record keeps the keys from nobody who locks")
    func stoppedWriter() throws {
        try withPasscode(.embedded) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            let file = open(keychain.directory.appendingPathComponent("store/lock-state").path, O_RDWR | O_CLOEXEC)
            #expect(flock(file, LOCK_EX) == 0)
            let lock = Background { try keychain.lock() }
            try awaitThat("the keys are gone") { try !hasKeyring || keychain.lockStatus.state == .locked }
            close(file)
            try lock.wait()
            withExtendedLifetime(listener) {}
        }
    }

    // MARK: Disuse

    @Test(
        "Before the idle limit ends there is notice, and what reads then does not put it off",
        arguments: KeychainHost.allCases)
    func disuse(host: KeychainHost) throws {
        try withPasscode(host, policy: PasscodePolicy(idleLimit: 600)) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            keychain.clock.advance(by: 500)
            #expect(try keychain.handler.secret(of: "a") == "secret")
            keychain.clock.advance(by: 590)
            try keychain.look(listener)
            #expect(try !keychain.lockStatus.isLocking)
            keychain.clock.advance(by: 8)
            try keychain.look(listener)
            #expect(try keychain.lockStatus.isLocking)
            #expect(try keychain.handler.secret(of: "a") == "secret")
            keychain.clock.advance(by: 2.1)
            try keychain.look(listener)
            #expect(try keychain.lockStatus.state == .locked)
        }
    }

    @Test("A use before the notice puts the idle limit off, and a short limit has a short notice")
    func shortLimit() throws {
        try withPasscode(.embedded, policy: PasscodePolicy(idleLimit: 4)) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            for _ in 0..<3 {
                keychain.clock.advance(by: 2.9)
                try keychain.look(listener)
                #expect(try !keychain.lockStatus.isLocking)
                #expect(try keychain.engine.secret(of: "a") == "secret")
            }
            keychain.clock.advance(by: 3.1)
            try keychain.look(listener)
            #expect(try keychain.lockStatus.isLocking)
        }
    }

    @Test("What a watcher finds to have gone unused is locked at once: it cannot be read any more as it is")
    func watcher() throws {
        try withPasscode(.embedded, policy: PasscodePolicy(idleLimit: 600)) { keychain throws in
            let listener = try keychain.handler.listenForLocks()
            keychain.clock.advance(by: 601)
            let epoch = try keychain.lockStatus.epoch
            _ = try keychain.handler.handle(.renewLease, from: caller)
            #expect(try keychain.lockStatus.state == .locked)
            #expect(try keychain.lockStatus.epoch == epoch + 1)
            withExtendedLifetime(listener) {}
        }
    }

    // MARK: The record

    @Test("The record holds the announcement, and one from before there was any reads as none")
    func record() throws {
        var record = LockRecord()
        record.unlockedAt = record.epoch + 1
        record.lockingUntil = 5_000_000_000
        var bytes = [UInt8](repeating: 0, count: LockRecord.byteCount)
        bytes.withUnsafeMutableBytes { record.write(to: $0) }
        #expect(bytes.withUnsafeBytes { LockRecord($0) } == record)
        #expect(record.isLocking(2_000_000_000) && record.isNoticeRunning(4_999_999_999))
        #expect(!record.isLocking(1_999_999_999), "further ahead than any notice: from before a start of the system")
        #expect(record.isLocking(5_999_999_999) && !record.isNoticeRunning(5_000_000_000))
        #expect(!record.isLocking(6_000_000_000))
        bytes.replaceSubrange(56..<64, with: [UInt8](repeating: 0, count: 8))
        let former = try #require(bytes.withUnsafeBytes { LockRecord($0) })
        #expect(former.lockingUntil == 0 && !former.isLocking(0))
        record.lockingUntil = .max
        #expect(!record.isLocking(2_000_000_000))
    }

    // MARK: Processes

    @Test("A lock by another process waits for this one's listener", .enabled(if: hasKeyring))
    func otherProcess() throws {
        // The clocks of both stand still, so that the notice lasts.
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            defer { engine.withdrawKeys() }
            try engine.add(.password("a"))
            try engine.setPasscode("1234")
            let other = try AgentProcess("serve", directory.path, environment: ["KEYCHAIN_TEST_STILL_CLOCK": "1"])
            defer { try? other.end() }
            #expect(try other.ask("get a") == "secret")
            let listener = try engine.listenForLocks()
            let epoch = try engine.lockStatus().epoch
            let lock = Background { () throws in #expect(try other.ask("lock") == "0") }
            _ = try listener.waitForChange(since: epoch, timeout: .seconds(60))
            #expect(try engine.lockStatus().isLocking)
            #expect(try engine.secret(of: "a") == "secret")
            listener.end()
            try lock.wait()
            #expect(throws: KeychainError.self) { try engine.secret(of: "a") }
        }
    }
}

extension TestKeychain {
    fileprivate func awaitAnnouncement() throws { try awaitThat("a lock is announced") { try lockStatus.isLocking } }

    /// Waits until each of the locks, which wait for listeners, has looked for them once more, or one has ended.
    fileprivate func awaitLooks(by locks: Background...) throws {
        try #require(clock.awaitPauses(ofThreads: locks.count) { locks.contains(where: \.hasEnded) })
    }

    /// Runs `lock`, which begins one epoch and no more. The clock stands still, so one that waited would wait for ever.
    fileprivate func expectNoNotice(_ lock: () throws -> Void) throws {
        let epoch = try lockStatus.epoch
        try lock()
        #expect(try lockStatus.epoch == epoch + 1)
        #expect(try lockStatus.state == .locked)
    }

    /// As whoever listens does all the time, and the housekeeper of a daemon.
    fileprivate func look(_ listener: any LockListener) throws {
        _ = try listener.waitForChange(since: .max, timeout: .zero)
        if engine.configuration.host == .user { _ = try engine.lockIfDue() }
    }
}

/// Waits until it is so, a minute at most.
private func awaitThat(_ sentence: Comment, _ isSo: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !isSo() {
        try #require(ContinuousClock.now < end, sentence)
        usleep(1_000)
    }
}

/// Something that is done on a thread of its own.
private final class Background: @unchecked Sendable {  // what varies is behind the condition
    private let condition = NSCondition()
    private var result: Result<Void, any Error>?

    init(_ body: @escaping @Sendable () throws -> Void) {
        let thread = Thread { [self] in
            let outcome = Result { try body() }
            condition.withLock {
                result = outcome
                condition.broadcast()
            }
        }
        thread.start()
    }

    var hasEnded: Bool { condition.withLock { result != nil } }

    /// Waits for its end, a minute at most.
    func wait() throws {
        let end = Date(timeIntervalSinceNow: 60)
        let outcome = condition.withLock {
            while result == nil, condition.wait(until: end) {}
            return result
        }
        try #require(outcome, "it does not end").get()
    }
}
