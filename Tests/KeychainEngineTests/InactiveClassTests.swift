import Foundation
import Glibc
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// The file class "when user inactive": for how long its keys outlive a lock, and what ends that time.
@Suite struct InactiveClassTests {
    private func withKey(
        _ host: KeychainHost = .embedded, policy: PasscodePolicy? = nil,
        _ body: (TestKeychain, FileKey) throws -> Void
    ) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            if let policy { try keychain.setPolicy(policy) }
            try body(keychain, try keychain.handler.fileKey(.make(.completeWhenUserInactive, fileID: UUID())))
        }
    }

    private func expect(
        _ isOpen: Bool, _ key: FileKey, _ keychain: TestKeychain, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let result = Result { () throws(KeychainError) in try keychain.handler.fileKey(.open(key.wrapped)) }
        let place = (try? keychain.lockStatus.keyPlace.rawValue) ?? ""
        switch result {
        case .success(let opened):
            #expect(opened.key.copyData() == key.key.copyData(), sourceLocation: sourceLocation)
            #expect(isOpen, "open, \(place)", sourceLocation: sourceLocation)
        case .failure(let error):
            #expect(
                !isOpen && error.code == .interactionNotAllowed, "\(place): \(error)", sourceLocation: sourceLocation)
        }
    }

    // MARK: The time

    @Test("The keys stay for ten minutes after each lock, by the boot clock", arguments: KeychainHost.allCases)
    func time(host: KeychainHost) throws {
        try withKey(host) { keychain, key in
            for _ in 0..<2 {
                expect(true, key, keychain)
                #expect(try keychain.lockStatus.timeLeftAfterLock == nil)
                try keychain.lock()
                #expect(try keychain.lockStatus.timeLeftAfterLock == 600)
                keychain.clock.advance(by: 599.5)
                #expect(try keychain.lockStatus.timeLeftAfterLock == 1)
                expect(true, key, keychain)
                keychain.clock.advance(by: 0.5)
                expect(false, key, keychain)
                #expect(try keychain.lockStatus.timeLeftAfterLock == nil)
                try keychain.unlock("1234")
            }
            expect(true, key, keychain)
        }
    }

    @Test("Another lock within the time gives no more time", arguments: KeychainHost.allCases)
    func secondLock(host: KeychainHost) throws {
        try withKey(host) { keychain, key in
            try keychain.lock()
            keychain.clock.advance(by: 590)
            try keychain.lock()
            expect(true, key, keychain)
            keychain.clock.advance(by: 10)
            expect(false, key, keychain)
            try keychain.lock()
            expect(false, key, keychain)
        }
    }

    @Test("A lock at once ends the time, and a later lock brings none back", arguments: KeychainHost.allCases)
    func lockAtOnce(host: KeychainHost) throws {
        try withKey(host) { keychain, key in
            try keychain.lock()
            expect(true, key, keychain)
            try keychain.lock(.now)
            expect(false, key, keychain)
            try keychain.lock()
            expect(false, key, keychain)
            try keychain.unlock("1234")
            try keychain.lock(.now)
            expect(false, key, keychain)
        }
    }

    @Test("A new system, and a new process that holds keys, begin without them", arguments: KeychainHost.allCases)
    func restart(host: KeychainHost) throws {
        try withKey(host) { keychain, key in
            try keychain.lock()
            keychain.restart()
            expect(false, key, keychain)
        }
    }

    @Test(
        "The end of the idle limit begins the time, whenever it is noticed, and using the class puts off no lock",
        arguments: KeychainHost.allCases, [false, true])
    func idle(host: KeychainHost, isNoticed: Bool) throws {
        try withKey(host, policy: PasscodePolicy(idleLimit: 100)) { keychain, key in
            keychain.clock.advance(by: 90)
            expect(true, key, keychain)
            keychain.clock.advance(by: 30)
            #expect(try keychain.lockStatus.state == .locked)
            if isNoticed { _ = try keychain.handler.handle(.renewLease, from: caller) }
            if isNoticed { keychain.clock.advance(by: 40) } else { keychain.clock.advance(by: 579) }
            expect(true, key, keychain)
            if isNoticed { try keychain.lock() } else { keychain.clock.advance(by: 2) }
            expect(isNoticed, key, keychain)
            if isNoticed { #expect(try keychain.lockStatus.timeLeftAfterLock ?? 0 <= 540) }
        }
    }

    // MARK: The watcher

    @Test("The end of a watcher ends the time, and a new watcher brings nothing back", arguments: KeychainHost.allCases)
    func watcher(host: KeychainHost) throws {
        // The system's daemon has no watcher but itself.
        if host == .system { return }
        try withKey(host) { keychain, key in
            for isLocked in [true, false] {
                try keychain.unlock("1234")
                _ = try keychain.handler.handle(.renewLease, from: caller)
                if isLocked { try keychain.lock() }
                keychain.clock.advance(by: 59)
                expect(true, key, keychain)
                keychain.clock.advance(by: 2)
                if isLocked { expect(false, key, keychain) }
                _ = try keychain.handler.handle(.renewLease, from: caller)
                expect(false, key, keychain)
            }
        }
    }

    // MARK: The policy

    @Test("The policy sets the time, and zero closes the class with the lock", arguments: KeychainHost.allCases)
    func policy(host: KeychainHost) throws {
        try withKey(host, policy: PasscodePolicy(timeAfterLock: 3)) { keychain, key in
            #expect(try keychain.keybag.format == 2)
            try keychain.lock()
            keychain.clock.advance(by: 2.9)
            expect(true, key, keychain)
            keychain.clock.advance(by: 0.1)
            expect(false, key, keychain)
            try keychain.unlock("1234")
            try keychain.setPolicy(PasscodePolicy(idleLimit: 50, timeAfterLock: 0))
            // A request of a program that does not know the time leaves it.
            try keychain.setPolicy(PasscodePolicy(idleLimit: 60))
            #expect(try keychain.lockStatus.timeAfterLock == 0)
            try keychain.lock()
            expect(false, key, keychain)
            try keychain.unlock("1234")
            #expect(throws: KeychainError.self) { try keychain.setPolicy(PasscodePolicy(timeAfterLock: 86_401)) }
            try keychain.setPolicy(PasscodePolicy(timeAfterLock: 600))
            #expect(try keychain.keybag.format == 1, "older programs open the store again")
        }
    }

    @Test("A change of the keybag while locked ends the time", arguments: KeychainHost.allCases)
    func changeWithin(host: KeychainHost) throws {
        try withKey(host) { keychain, key in
            let changes: [() throws -> Void] = [
                { try keychain.setPolicy(PasscodePolicy(timeAfterLock: 3600)) },
                { try keychain.handler.changePasscode(from: "1234", to: "1234") },
            ]
            for change in changes {
                try keychain.unlock("1234")
                try keychain.lock()
                expect(true, key, keychain)
                try change()
                expect(false, key, keychain)
                #expect(try keychain.lockStatus.state == .locked)
            }
        }
    }

    // MARK: The kernel's keyring

    @Test("Where the kernel keeps the keys past their time, no program opens them", .enabled(if: hasKeyring))
    func wallClockSetBack() throws {
        try withKey { keychain, key in
            try keychain.lock()
            let blob = try #require(try keychain.inactiveBlob)
            // The kernel measures by the time of day, which did not go on.
            keychain.clock.setBack(by: 10_000)
            keychain.clock.advance(by: 600)
            for engine in [keychain.engine, try Engine(keychain.configuration)] {
                expectKeys([key], in: engine) { _ in .interactionNotAllowed }
            }
            #expect(try keychain.inactiveBlob == blob)
        }
    }

    @Test("Keys that are put back, or say another time, open nothing", .enabled(if: hasKeyring))
    func forgery() throws {
        try withKey { keychain, key in
            let unlocked = try #require(try keychain.inactiveBlob)
            try keychain.lock()
            let locked = try #require(try keychain.inactiveBlob)
            #expect(locked != unlocked)
            keychain.clock.advance(by: 600)
            let start = 2 + Int(UInt16(locked[0]) << 8 | UInt16(locked[1]))
            var later = locked
            later.replaceSubrange(start..<(start + 8), with: Data(count: 8))
            var latest = locked
            latest[start + 3] += 1
            for forged in [unlocked, locked, later, latest, locked.prefix(start + 7), Data([0, 0]), Data(count: 900)] {
                try keychain.putInactiveBlob(forged)
                expect(false, key, keychain)
            }
            // A lock at once has another epoch than the lock whose keys are put back.
            try keychain.unlock("1234")
            try keychain.lock()
            let latestLock = try #require(try keychain.inactiveBlob)
            try keychain.putInactiveBlob(latestLock)
            expect(true, key, keychain)
            try keychain.lock(.now)
            try keychain.putInactiveBlob(latestLock)
            expect(false, key, keychain)
        }
    }

    @Test("A lock by a program that does not know the class gives no time", .enabled(if: hasKeyring))
    func formerProgram() throws {
        try withKey { keychain, key in
            let keys = keychain.engine.keys
            keys.removeBlobs(of: [.whenUnlocked])
            try keys.state.lock { $0.lock(graceEnd: keychain.clock.sinceBoot + LockRecord.graceLength) }
            #expect(try keychain.inactiveBlob == nil, "a look removes what that lock did not reach")
            expect(false, key, keychain)
        }
    }

    @Test("A program that is killed within the time leaves no more time than there was", .enabled(if: hasKeyring))
    func killedLocker() throws {
        try withKey { keychain, key in
            // Its clock stands at the beginning of this keychain's.
            let other = try AgentProcess(
                "serve", keychain.directory.path, environment: ["KEYCHAIN_TEST_STILL_CLOCK": "1"])
            #expect(try other.ask("lock") == "0")
            #expect(try other.ask("open-file \(key.wrapped.text)") == "0")
            #expect(try other.ask("make-file 7").count > 50)
            other.kill()
            expect(true, key, keychain)
            keychain.clock.advance(by: 600)
            expect(false, key, keychain)
        }
    }

    @Test(
        "After a lock that cannot be written the keys are gone",
        arguments: [KeychainHost.embedded, .embeddedWithoutKeyring])
    func unwrittenLock(host: KeychainHost) throws {
        try withKey(host) { keychain, key in
            let file = keychain.directory.appendingPathComponent("store/lock-state")
            let record = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(throws: KeychainError.self) { try keychain.lock() }
            try FileManager.default.removeItem(at: file)
            try record.write(to: file)
            chmod(file.path, 0o600)
            expect(false, key, keychain)
            expectKeys([key], in: try Engine(keychain.configuration)) { _ in .interactionNotAllowed }
        }
    }

    @Test(
        "A lock beside a keybag that does not open leaves no keys in the kernel, whether the store is open or not",
        .enabled(if: hasKeyring), arguments: [true, false])
    func lockWithoutKeybag(isOpen: Bool) throws {
        try withKey { keychain, key throws in
            let name = try keychain.inactiveName
            let file = keychain.directory.appendingPathComponent("store/keybag")
            let content = try Data(contentsOf: file)
            try Data(content.reversed()).write(to: file)
            keychain.engine.keys.forgetSnapshot()
            if isOpen {
                #expect(throws: KeychainError.self) { try keychain.lock() }
            } else {
                try UnopenedStore.lock(keychain.configuration, .withGrace)
            }
            #expect(KernelKeyring.ofUser!.find(name) == nil)
            try content.write(to: file)
            expect(false, key, keychain)
        }
    }

    @Test("A lock that was killed before it wrote anything leaves no keys", .enabled(if: hasKeyring))
    func killedBeforeRecord() throws {
        try withKey { keychain, key throws in
            // The keys of the other tier go first.
            keychain.engine.keys.removeBlobs(of: [.whenUnlocked])
            expect(false, key, keychain)
            #expect(try keychain.inactiveBlob == nil)
        }
    }

    @Test("Of two programs that lock at the same moment, neither takes the time", .enabled(if: hasKeyring))
    func twoLocks() throws {
        try withKey { keychain, key in
            let (files, clock) = (InterruptedFiles(.make(keychain.lockStatePath)), HeldClock(keychain.clock))
            let first = try Engine(keychain.configuration { $0.files = files })
            let second = try Engine(keychain.configuration { $0.clock = clock })
            let end = DispatchSemaphore(value: 0)
            // The first one has taken the other keys, and has not written the record yet.
            files.interrupt {
                Thread.detachNewThread {
                    _ = try? second.handle(.lock(.withGrace), from: .owner)
                    clock.hasPaused.signal()
                    end.signal()
                }
                clock.hasPaused.wait()
            }
            _ = try first.handle(.lock(.withGrace), from: .owner)
            clock.mayGoOn.signal()
            end.wait()
            #expect(try files.wasInterrupted())
            #expect(try keychain.lockStatus.timeLeftAfterLock == 600)
            expect(true, key, keychain)
        }
    }

    @Test("A lock that an unlock has overtaken gives its time", .enabled(if: hasKeyring))
    func overtakenLock() throws {
        try withKey { keychain, key in
            try keychain.lock(.now)
            let files = InterruptedFiles(.make(keychain.lockStatePath))
            let overtaken = try Engine(keychain.configuration { $0.files = files })
            files.interrupt { try keychain.unlock("1234") }
            _ = try overtaken.handle(.lock(.withGrace), from: .owner)
            #expect(try files.wasInterrupted())
            #expect(try keychain.lockStatus.state == .locked)
            #expect(try keychain.lockStatus.timeLeftAfterLock == 600)
            expect(true, key, keychain)
        }
    }

    @Test("A late removal of what one lock missed leaves what a later lock keeps", .enabled(if: hasKeyring))
    func lateRemoval() throws {
        try withKey { keychain, key in
            let missed = try #require(try keychain.inactiveBlob)
            try keychain.lock(.now)
            try keychain.putInactiveBlob(missed)
            let files = InterruptedFiles(.make(keychain.lockStatePath))
            let late = try Engine(keychain.configuration { $0.files = files })
            files.interrupt {
                try keychain.unlock("1234")
                try keychain.lock()
            }
            expectKeys([key], in: late)
            #expect(try files.wasInterrupted())
            expect(true, key, keychain)
        }
    }

    @Test("The kernel keeps the keys no longer than the watcher's promise", .enabled(if: hasKeyring))
    func kernelLease() throws {
        try withKey { keychain, _ in
            var start = Glibc.time(nil)
            _ = try keychain.handler.handle(.renewLease, from: caller)
            try keychain.lock()
            for _ in 0..<2 {
                let left = try keychain.secondsUntilKernelDropsInactiveKeys
                #expect(left <= 60 && left >= 60 - (Glibc.time(nil) - start))
                start = Glibc.time(nil)
                _ = try keychain.handler.handle(.renewLease, from: caller)
            }
        }
    }

    @Test("Where each process holds keys, another one's change of the keybag ends the time")
    func changeElsewhere() throws {
        try withKey(.embeddedWithoutKeyring) { keychain, key in
            let other = try AgentProcess(
                "serve", keychain.directory.path, usesKeyring: false,
                environment: ["KEYCHAIN_TEST_STILL_CLOCK": "1"])
            defer { try? other.end() }
            try keychain.lock()
            expect(true, key, keychain)
            #expect(try other.ask("change 1234 1234") == "0")
            expect(false, key, keychain)
        }
    }

    @Test("Keys that a process holds by itself are gone with it, within the time too")
    func killedHolder() throws {
        try withKey(.embeddedWithoutKeyring) { keychain, key in
            func start() throws -> AgentProcess {
                try AgentProcess(
                    "serve", keychain.directory.path, usesKeyring: false,
                    environment: ["KEYCHAIN_TEST_STILL_CLOCK": "1"])
            }
            let holder = try start()
            #expect(try holder.ask("unlock 1234") == "0")
            try keychain.lock()
            #expect(try holder.ask("open-file \(key.wrapped.text)") == "0")
            try keychain.lock(.now)
            #expect(try holder.ask("open-file \(key.wrapped.text)") == "-25308")
            #expect(try holder.ask("unlock 1234") == "0")
            try keychain.lock()
            #expect(try holder.ask("open-file \(key.wrapped.text)") == "0")
            holder.kill()
            let next = try start()
            #expect(try next.ask("open-file \(key.wrapped.text)") == "-25308")
            try next.end()
        }
    }

    @Test("A daemon erases the keys when their time is over, though nobody asks")
    func housekeeping() throws {
        try withKey(.daemon) { keychain, _ in
            #expect(try keychain.engine.lockIfDue() == nil)
            try keychain.lock()
            let due = try #require(try keychain.engine.lockIfDue())
            #expect(due > .seconds(599) && due < .seconds(601))
            let keys = keychain.engine.keys
            weak let set = keys.held.whenUserInactive(try keychain.keybag)?.keys
            #expect(set != nil)
            keychain.clock.advance(by: 600)
            #expect(try keychain.engine.lockIfDue() == nil)
            #expect(set == nil, "erased before anybody asked for it")
        }
    }

    // MARK: Generations

    @Test("Of many renewals, the keys of the latest stay after a lock; an unlock opens files of all")
    func manyRenewals() throws {
        try withKey { keychain, first in
            var keys = [first]
            for _ in 0..<26 {
                try keychain.handler.changePasscode(from: "1234", to: "1234", rekey: true)
                keys.append(try keychain.handler.fileKey(.make(.completeWhenUserInactive, fileID: UUID())))
            }
            expectKeys(keys, in: keychain.handler)
            try keychain.lock()
            let newest = try #require(keys.last?.wrapped.generation)
            expectKeys(keys, in: keychain.handler) { key in
                key.wrapped.generation + 24 > newest ? nil : .interactionNotAllowed
            }
            try keychain.unlock("1234")
            expectKeys(keys, in: keychain.handler)
        }
    }

    @Test("Ten wrong passcodes within the time erase the keys, and the removal of a passcode keeps them")
    func erasureAndRemoval() throws {
        try withKey(policy: PasscodePolicy(erasesAfterTenFailures: true)) { keychain, key in
            try keychain.lock()
            for _ in 0..<10 {
                _ = try? keychain.handler.handle(.unlock(.of(UUID().uuidString)), from: .owner)
                keychain.clock.advance(by: try keychain.lockStatus.secondsUntilNextAttempt)
            }
            #expect(try keychain.lockStatus.hasPasscode == false)
            expectKeys([key], in: keychain.handler) { _ in .noSuchKeychain }
            let other = try keychain.handler.fileKey(.make(.completeWhenUserInactive, fileID: UUID()))
            try keychain.setPasscode("5")
            _ = try keychain.handler.handle(.passcode(.remove(old: .of("5"))), from: .owner)
            expect(true, other, keychain)
        }
    }
}

extension TestKeychain {
    fileprivate func setPolicy(_ policy: PasscodePolicy) throws {
        _ = try handler.handle(.passcode(.setPolicy(policy, passcode: .of("1234"))), from: .owner)
    }

    fileprivate var inactiveName: String {
        get throws {
            engine.keys.blobName(.whenUserInactive, bagGeneration: try engine.keys.begin().snapshot.bag.generation)
        }
    }

    fileprivate var lockStatePath: String { directory.appendingPathComponent("store/lock-state").path }

    fileprivate func configuration(_ change: (inout EngineConfiguration) -> Void) -> EngineConfiguration {
        var configuration = configuration
        change(&configuration)
        return configuration
    }

    /// What the kernel has of the keys; nil: nothing.
    fileprivate var inactiveBlob: Data? {
        get throws {
            let keyring = KernelKeyring.ofUser!
            return try keyring.find(try inactiveName).flatMap { try keyring.read($0, capacity: 4096) { Data($0) } }
        }
    }

    /// By what the kernel shows of its keys, in which a minute is any time from one to two; 0 if they are gone.
    fileprivate var secondsUntilKernelDropsInactiveKeys: Int {
        get throws {
            guard let serial = KernelKeyring.ofUser?.find(try inactiveName) else { return 0 }
            let text = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/keys")).readToEnd() ?? Data()
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            let line = lines.first { $0.split(separator: " ").first.flatMap { Int32($0, radix: 16) } == serial }
            switch line?.split(separator: " ")[3] {
            case nil, "expd": return 0
            case "1m": return 60
            case let term?: return term.hasSuffix("s") ? Int(term.dropLast()) ?? .max : .max
            }
        }
    }

    fileprivate func putInactiveBlob(_ bytes: Data) throws {
        try KernelKeyring.ofUser!.put(bytes, as: try inactiveName, lifetime: nil)
        engine.keys.forgetSnapshot()
    }
}

/// A clock whose pauses last until a test ends them all.
private final class HeldClock: Clock {
    let hasPaused = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    private let clock: TestClock

    init(_ clock: TestClock) { self.clock = clock }

    var now: Double { clock.now }
    var sinceBoot: UInt64 { clock.sinceBoot }
    var bootID: UUID { clock.bootID }
    var reading: ClockReading { clock.reading }
    func now(byWritingTo file: Int32) -> Double? { clock.now(byWritingTo: file) }

    func pause(_: Duration) {
        hasPaused.signal()
        mayGoOn.wait()
        mayGoOn.signal()
    }
}
