import Foundation
import KeychainModel
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

/// The lock of a real keychain.
@Suite(.serialized) struct KeychainLockTests {
    private static let passcode = Data("open sesame".utf8)
    private static let otherPasscode = Data("a better one".utf8)

    /// Runs `body` with an empty keychain, and removes the passcode afterwards: the unlocked keys of a store would
    /// stay in the kernel's keyring when its files are gone.
    private func withLock(_ body: (KeychainLock) throws -> Void) throws {
        try withKeychain { _ in
            let lock = KeychainLock()
            let outcome = Result { try body(lock) }
            for passcode in [Self.passcode, Self.otherPasscode] where try lock.hasPasscode {
                _ = Result { try lock.removePasscode(passcode) }  // the other one is tried then
            }
            #expect(try !lock.hasPasscode, "the store's keys stay in the kernel's keyring")
            try outcome.get()
        }
    }

    private func failure(_ body: () throws(KeychainError) -> Void) -> Int32? {
        do throws(KeychainError) {
            try body()
            return nil
        } catch {
            return error.status
        }
    }

    private func add(_ account: String, _ protection: Protection) throws {
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text(account)]
        request.accessControl = AccessControl(protection)
        request.secret = SecretBytes(copying: Data("secret".utf8))
        _ = try Connection.current.perform(.add(request))
    }

    /// The status of reading an item's secret.
    private func read(_ account: String) -> Int32 {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text(account)]
        do throws(KeychainError) {
            _ = try Connection.current.perform(.find(FindRequest(query, wantsSecrets: true)))
            return 0
        } catch {
            return error.code.status
        }
    }

    @Test("Without a passcode a keychain is unlocked, and what needs one is refused with −25260")
    func noPasscode() throws {
        try withLock { (lock) throws in
            #expect(try !lock.hasPasscode)
            #expect(try lock.state == .unlocked)
            #expect(failure { () throws(KeychainError) in try lock.lock() } == -25260)
            #expect(
                failure { () throws(KeychainError) in try lock.unlock(passcode: Self.passcode) } == -25260)
            #expect(
                failure { () throws(KeychainError) in try lock.removePasscode(Self.passcode) } == -25260)
            #expect(
                failure { () throws(KeychainError) in
                    try lock.changePasscode(from: Self.passcode, to: Self.otherPasscode)
                } == -25260)
            #expect(
                failure { () throws(KeychainError) in
                    try lock.setPolicy(.init(idleLimit: .seconds(60)), passcode: Self.passcode)
                } == -25260)
        }
    }

    @Test("A lock takes what needs it and leaves the rest, until the passcode unlocks", arguments: [false, true])
    func lockAndUnlock(immediately: Bool) throws {
        try withLock { (lock) throws in
            try lock.setPasscode(Self.passcode)
            #expect(try lock.hasPasscode)
            #expect(try lock.state == .unlocked)
            try add("a", .whenUnlocked)
            try add("c", .afterFirstUnlock)
            try lock.lock(immediately: immediately)
            #expect(try lock.state == .locked)
            #expect(read("a") == -25308)
            #expect(read("c") == 0)
            #expect(read("nobody") == -25300)
            try lock.unlock(passcode: Self.passcode)
            #expect(try lock.state == .unlocked)
            #expect(read("a") == 0)
        }
    }

    @Test("A wrong passcode is −25293, unlocks nothing, and is not in the message")
    func wrongPasscode() throws {
        try withLock { (lock) throws in
            try lock.setPasscode(Self.passcode)
            try lock.lock(immediately: true)
            let error = #expect(throws: KeychainError.self) { try lock.unlock(passcode: Data("wrong!".utf8)) }
            #expect(error?.status == -25293)
            #expect(error?.description.contains("wrong!") == false)
            #expect(try lock.state == .locked)
        }
    }

    @Test(
        "A passcode that is none is refused with its status, and none is set",
        arguments: [
            (Data(), -50), (Data(repeating: 0x78, count: 1025), -25302), (Data([0xc3, 0x28]), -26275),
        ] as [(Data, Int32)])
    func refused(passcode: Data, status: Int32) throws {
        try withLock { (lock) throws in
            #expect(failure { () throws(KeychainError) in try lock.setPasscode(passcode) } == status)
            #expect(try !lock.hasPasscode)
        }
    }

    @Test("A first passcode is the first: another one is −25299")
    func secondSet() throws {
        try withLock { (lock) throws in
            try lock.setPasscode(Self.passcode)
            #expect(
                failure { () throws(KeychainError) in try lock.setPasscode(Self.otherPasscode) } == -25299)
            try lock.unlock(passcode: Self.passcode)
        }
    }

    @Test("After a change only the new passcode unlocks, and what was stored is there", arguments: [false, true])
    func change(renewingKeys: Bool) throws {
        try withLock { (lock) throws in
            try add("a", .whenUnlocked)
            try lock.setPasscode(Self.passcode)
            try lock.changePasscode(from: Self.passcode, to: Self.otherPasscode, renewingKeys: renewingKeys)
            try lock.lock(immediately: true)
            #expect(
                failure { () throws(KeychainError) in try lock.unlock(passcode: Self.passcode) } == -25293)
            try lock.unlock(passcode: Self.otherPasscode)
            #expect(read("a") == 0)
        }
    }

    @Test("The renewal that belongs to a first passcode is told to its end, in items")
    func progress() throws {
        try withLock { (lock) throws in
            for account in 0..<5 { try add("\(account)", .whenUnlocked) }
            var told: [KeychainLock.RenewalProgress] = []
            try lock.setPasscode(Self.passcode) { told.append($0) }
            #expect(told.last?.isFinished == true)
            #expect(told.last?.done == told.last?.total)
            #expect(told.dropLast().allSatisfy { !$0.isFinished })
            for account in 0..<5 { #expect(read("\(account)") == 0) }
        }
    }

    @Test("Removing the passcode destroys what is there only with one, and leaves the keychain unlocked for ever")
    func remove() throws {
        try withLock { (lock) throws in
            try lock.setPasscode(Self.passcode)
            try add("gone", .whenPasscodeSetThisDeviceOnly)
            try add("kept", .whenUnlocked)
            try lock.removePasscode(Self.passcode)
            #expect(try !lock.hasPasscode)
            #expect(read("gone") == -25300)
            #expect(read("kept") == 0)
        }
    }

    @Test("A policy is what was set, with a part of a second counting as one")
    func policy() throws {
        try withLock { (lock) throws in
            try lock.setPasscode(Self.passcode)
            #expect(try lock.policy == KeychainLock.Policy(timeAfterLock: .seconds(600)))
            let policy = KeychainLock.Policy(
                idleLimit: .milliseconds(59_001), erasesAfterTenFailures: true, timeAfterLock: .milliseconds(4_001))
            try lock.setPolicy(policy, passcode: Self.passcode)
            #expect(
                try lock.policy
                    == KeychainLock.Policy(
                        idleLimit: .seconds(60), erasesAfterTenFailures: true, timeAfterLock: .seconds(5)))
            try lock.setPolicy(KeychainLock.Policy(), passcode: Self.passcode)
            #expect(try lock.policy.idleLimit == nil)
            #expect(try lock.policy.timeAfterLock == .seconds(5), "it was not named")
        }
    }

    @Test("A lock that names a configuration is that of the store there, for every process and instance")
    func configuration() throws {
        try withTemporaryDirectory { directory in
            var configuration = KeychainConfiguration()
            configuration.storeDirectory = directory.appendingPathComponent("store")
            configuration.deviceKeyDirectory = directory.appendingPathComponent("device")
            let lock = KeychainLock(configuration)
            try lock.setPasscode(Self.passcode)
            let outcome = Result {
                try KeychainLock(configuration).lock(immediately: true)
                #expect(try lock.state == .locked)
            }
            try lock.removePasscode(Self.passcode)
            try outcome.get()
        }
    }

    @Test("A stream of changes tells of a lock and of an unlock")
    func changes() async throws {
        try await withKeychain { _ in
            let lock = KeychainLock()
            try lock.setPasscode(Self.passcode)
            var changes = lock.changes.makeAsyncIterator()
            try lock.lock(immediately: true)
            let first = await changes.next()
            try lock.unlock(passcode: Self.passcode)
            let second = await changes.next()
            try lock.removePasscode(Self.passcode)
            #expect(first == .locked)
            #expect(second == .unlocked)
        }
    }
}

/// What the lock does with an engine's answers, whichever engine that is.
@Suite struct KeychainLockAnswerTests {
    private static let passcode = Data("open sesame".utf8)

    private func withFake<R>(_ body: (FakeEngine, KeychainLock) throws -> R) rethrows -> R {
        let engine = FakeEngine()
        return try Connection.$override.withValue(Connection(engine: engine, caller: Caller(groups: ["G"]))) {
            try body(engine, KeychainLock())
        }
    }

    /// Waits for something that another thread does at once, but for ever if it never does.
    private func eventually(_ condition: () -> Bool) async throws -> Bool {
        for _ in 0..<6_000 {
            if condition() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return condition()
    }

    @Test("A renewal is asked for part by part until it is finished, and each part is told")
    func renewal() throws {
        try withFake { engine, lock in
            var told: [Int] = []
            try lock.setPasscode(Self.passcode) { told.append($0.done) }
            #expect(told == [0, 1, 2, 3])
            try lock.changePasscode(from: Self.passcode, to: Self.passcode, renewingKeys: true)
            #expect(engine.stepCount == 6)
            try lock.changePasscode(from: Self.passcode, to: Self.passcode)
            #expect(engine.stepCount == 6)
        }
    }

    @Test("An unlock goes on with a renewal that was interrupted")
    func interruptedRenewal() throws {
        try withFake { engine, lock in
            try lock.unlock(passcode: Self.passcode) { _ in Issue.record("there is nothing to renew") }
            engine.change { $0.isRekeying = true }
            var told: [Int] = []
            try lock.unlock(passcode: Self.passcode) { told.append($0.done) }
            #expect(told == [1, 2, 3])
        }
    }

    @Test("A passcode may be in any memory that has its bytes together")
    func contiguousBytes() throws {
        try withFake { _, lock in
            try lock.unlock(passcode: Array(Self.passcode))
            try Self.passcode.withUnsafeBytes { try lock.unlock(passcode: $0) }
            try lock.unlock(passcode: UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    @Test("A failure keeps its status, its message and its cause")
    func failure() throws {
        withFake { engine, lock in
            engine.fail(with: KeychainError(.diskFull, message: "full", cause: CocoaError(.fileWriteOutOfSpace)))
            let error = #expect(throws: KeychainError.self) { _ = try lock.state }
            #expect(error?.status == -34)
            #expect(error?.cause is CocoaError)
            #expect(error?.description == "full [-34]")
            #expect((error as (any Error)?)?.localizedDescription == "The disk is full. (full)")
        }
    }

    @Test(
        "An idle limit that is none is refused before anything is asked",
        arguments: [Duration.zero, .seconds(-1), .milliseconds(-1), .seconds(1 << 32), .seconds(Int64.max)])
    func invalidIdleLimit(limit: Duration) {
        withFake { _, lock in
            let error = #expect(throws: KeychainError.self) {
                try lock.setPolicy(KeychainLock.Policy(idleLimit: limit), passcode: Self.passcode)
            }
            #expect(error?.status == -50)
        }
    }

    @Test(
        "A time after a lock that is none is refused before anything is asked",
        arguments: [Duration.seconds(-1), .milliseconds(-1), .milliseconds(86_400_001), .seconds(Int64.max)])
    func invalidTimeAfterLock(time: Duration) {
        withFake { _, lock in
            let error = #expect(throws: KeychainError.self) {
                try lock.setPolicy(KeychainLock.Policy(timeAfterLock: time), passcode: Self.passcode)
            }
            #expect(error?.status == -50)
        }
    }

    @Test("A keychaind that is too old to know the time after a lock is found out, and one that has it is not")
    func ignoredTimeAfterLock() throws {
        try withFake { engine, lock in
            let error = #expect(throws: KeychainError.self) {
                try lock.setPolicy(KeychainLock.Policy(timeAfterLock: .zero), passcode: Self.passcode)
            }
            #expect(error?.status == -4)
            #expect(error?.description.contains("the rest of the policy is set. Update keychaind") == true)
            try lock.setPolicy(KeychainLock.Policy(), passcode: Self.passcode)
            try lock.setPolicy(KeychainLock.Policy(timeAfterLock: .seconds(600)), passcode: Self.passcode)
            engine.change { $0.timeAfterLock = 0 }
            try lock.setPolicy(KeychainLock.Policy(timeAfterLock: .zero), passcode: Self.passcode)
        }
    }

    // MARK: Changes

    @Test("A stream of changes has each new state once, and nothing for what comes to the same")
    func changes() async throws {
        let (engine, stream) = withFake { ($0, $1.changes) }
        var changes = stream.makeAsyncIterator()
        engine.move(to: .unlocked)
        engine.move(to: .locked)
        #expect(await changes.next() == .locked)
        engine.move(to: .locked)
        engine.move(to: .neverUnlocked)
        #expect(await changes.next() == .neverUnlocked)
        engine.move(to: .unlocked)
        #expect(await changes.next() == .unlocked)
    }

    @Test("A key that expires is a change too, although nobody locked")
    func expiry() async throws {
        let (engine, stream) = withFake { ($0, $1.changes) }
        var changes = stream.makeAsyncIterator()
        engine.change { $0.state = .locked }
        #expect(await changes.next() == .locked)
    }

    @Test("Two streams are independent of each other")
    func twoStreams() async throws {
        let (engine, streams) = withFake { ($0, ($1.changes, $1.changes)) }
        engine.move(to: .locked)
        for stream in [streams.0, streams.1] {
            var changes = stream.makeAsyncIterator()
            #expect(await changes.next() == .locked)
        }
    }

    @Test("The thread of a stream ends when nobody has the stream any more")
    func consumerGoesAway() async throws {
        weak var engine: FakeEngine?
        withFake { fake, lock in
            engine = fake
            var stream: AsyncStream<KeychainLock.State>? = lock.changes
            #expect(stream != nil)
            stream = nil
        }
        // The thread holds the connection, and that holds the engine.
        #expect(try await eventually { engine == nil })
    }

    @Test("The thread of a stream ends when the task that reads it is cancelled")
    func taskIsCancelled() async throws {
        weak var engine: FakeEngine?
        let task = withFake { fake, lock in
            engine = fake
            let stream = lock.changes
            return Task.detached { for await _ in stream {} }
        }
        task.cancel()
        await task.value
        #expect(try await eventually { engine == nil })
    }

    @Test("Open files are told of each lock, also if the same classes were closed before, and of no unlock")
    func eachLock() async throws {
        let engine = FakeEngine()
        let told = Mutex<[ClosedClasses]>([])
        let feed = LockFeed(Connection(engine: engine, caller: Caller(groups: ["G"]))) { closed in
            told.withLock { $0.append(closed) }
        }
        var expected: [ClosedClasses] = []
        for epoch in [2, 3, 5] as [UInt64] {
            if epoch == 5 { engine.move(to: .unlocked) }
            engine.move(to: .locked)
            expected.append(ClosedClasses(classes: [.complete, .completeWhenUserInactive], epoch: epoch))
            #expect(try await eventually { told.withLock { $0.count } == expected.count })
        }
        #expect(told.withLock { $0 } == expected)
        feed.end()
    }

    @Test("A keychain that cannot be looked at counts as locked, and the stream goes on when it is back")
    func failingKeychain() async throws {
        let (engine, stream) = withFake { ($0, $1.changes) }
        var changes = stream.makeAsyncIterator()
        engine.fail(with: KeychainError(.notAvailable, message: "gone"))
        #expect(await changes.next() == .locked)
        let late = Connection.$override.withValue(Connection(engine: engine, caller: Caller(groups: ["G"]))) {
            KeychainLock().changes
        }
        var lateChanges = late.makeAsyncIterator()
        #expect(await lateChanges.next() == .locked)
        engine.recover()
        #expect(await changes.next() == .unlocked)
        #expect(await lateChanges.next() == .unlocked)
    }
}
