import Dispatch
import Foundation
import Glibc
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainEngine

/// Whether one process's unlock serves another: containers may refuse keyrings.
let hasKeyring = KernelKeyring.ofUser != nil

/// Disuse, watchers, grace, and where unlocked keys are.
@Suite struct LockTests {
    private func withPasscode(
        _ host: KeychainHost = .embedded, policy: PasscodePolicy = PasscodePolicy(),
        _ body: (TestKeychain) throws -> Void
    ) throws {
        try withKeychain(host) { keychain in
            try keychain.handler.add(.password("a"))
            try keychain.setPasscode("1234")
            _ = try keychain.handler.handle(.passcode(.setPolicy(policy, passcode: .of("1234"))), from: caller)
            try body(keychain)
        }
    }

    private func isLocked(_ keychain: TestKeychain) throws -> Bool { try keychain.lockStatus.state == .locked }

    // MARK: Disuse

    @Test("A store locks itself when nobody has used its keys for the idle limit", arguments: KeychainHost.allCases)
    func idle(host: KeychainHost) throws {
        try withPasscode(host, policy: PasscodePolicy(idleLimit: 600)) { keychain throws in
            keychain.clock.advance(by: 590)
            #expect(try isLocked(keychain) == false)
            #expect(try keychain.handler.secret(of: "a") == "secret")
            keychain.clock.advance(by: 590)
            #expect(try keychain.handler.secret(of: "a") == "secret")
            keychain.clock.advance(by: 601)
            #expect(try isLocked(keychain))
            let error = #expect(throws: KeychainError.self) { try keychain.handler.secret(of: "a") }
            #expect(error?.code == .interactionNotAllowed)
            try keychain.unlock("1234")
            #expect(try keychain.handler.secret(of: "a") == "secret")
        }
    }

    @Test("Asking for the state is no use of the keys", arguments: KeychainHost.allCases)
    func askingIsNoUse(host: KeychainHost) throws {
        try withPasscode(host, policy: PasscodePolicy(idleLimit: 100)) { keychain throws in
            for _ in 0..<3 {
                keychain.clock.advance(by: 40)
                _ = try keychain.lockStatus
            }
            #expect(try isLocked(keychain))
        }
    }

    @Test("Without a limit a store does not lock itself", arguments: KeychainHost.allCases)
    func noLimit(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            keychain.clock.advance(by: 10 * 24 * 3600)
            #expect(try isLocked(keychain) == false)
        }
    }

    // MARK: Watchers

    @Test("While a watcher lives, the kernel keeps the keys for a minute at a time")
    func lease() throws {
        try withPasscode { keychain throws in
            #expect(try keychain.lockStatus.isWatched == false)
            _ = try keychain.handler.handle(.renewLease, from: caller)
            #expect(try keychain.lockStatus.isWatched)
            if KernelKeyring.ofUser != nil {
                let seconds = try #require(try keychain.secondsUntilKernelDropsKeys())
                #expect((50...60).contains(seconds))
            }
            keychain.clock.advance(by: 61)
            #expect(try keychain.lockStatus.isWatched == false)
        }
    }

    @Test(
        "Where there is no keyring, the end of the watcher locks too",
        arguments: [KeychainHost.embeddedWithoutKeyring, .daemon])
    func leaseWithoutKeyring(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            _ = try keychain.handler.handle(.renewLease, from: caller)
            keychain.clock.advance(by: 59)
            #expect(try isLocked(keychain) == false)
            keychain.clock.advance(by: 2)
            #expect(try isLocked(keychain))
        }
    }

    @Test("A watcher locks a store that nobody has used for the idle limit", arguments: KeychainHost.allCases)
    func watcherAndIdle(host: KeychainHost) throws {
        try withPasscode(host, policy: PasscodePolicy(idleLimit: 30)) { keychain throws in
            let epoch = try keychain.lockStatus.epoch
            keychain.clock.advance(by: 31)
            _ = try keychain.handler.handle(.renewLease, from: caller)
            #expect(try isLocked(keychain))
            #expect(try keychain.lockStatus.epoch != epoch)
            if host == .embedded, let keyring = KernelKeyring.ofUser {
                #expect(keyring.find(try keychain.blobName()) == nil)
            }
        }
    }

    // MARK: Grace

    @Test(
        "A call in progress at a lock may go on for ten seconds, and not at all after one that is for now",
        arguments: KeychainHost.allCases)
    func grace(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            for (request, isRefusedAtOnce) in [(LockRequest.withGrace, false), (.now, true)] {
                try keychain.unlock("1234")
                let session = try keychain.engine.keys.begin()
                #expect(try session.set(of: .whenUnlocked) != nil)
                try keychain.lock(request)
                if isRefusedAtOnce {
                    #expect(throws: KeychainError.self) { try session.requireWithinGrace() }
                } else {
                    try session.requireWithinGrace()
                    keychain.clock.advance(by: 9)
                    // A second lock gives no more time.
                    try keychain.lock(.withGrace)
                    try session.requireWithinGrace()
                    keychain.clock.advance(by: 1.1)
                    #expect(throws: KeychainError.self) { try session.requireWithinGrace() }
                }
                #expect(throws: KeychainError.self) { try keychain.handler.secret(of: "a") }
            }
        }
    }

    @Test("A long search is refused in its midst when the store is locked for now", arguments: KeychainHost.allCases)
    func longSearch(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            for number in 0..<200 { try keychain.handler.add(.password("\(number)")) }
            let items = try keychain.engine.items()
            var seen = 0
            let error = #expect(throws: KeychainError.self) {
                try items.read { connection in
                    try items.forEachMatch(
                        of: .password(limit: .all), in: .some(["G"]), on: connection, wantsSecrets: true
                    ) { _ in
                        if seen == 10 { try keychain.lock(.now) }
                        seen += 1
                        return true
                    }
                }
            }
            #expect(error?.code == .interactionNotAllowed)
            #expect(seen > 10 && seen < 100)
        }
    }

    // MARK: Deleting while locked

    @Test("A locked item is deleted by nothing that does not mean it", arguments: KeychainHost.allCases)
    func deletesNothingElse(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let item = try keychain.handler.add(.password("b"))
            var synchronized = AddRequest.password("c")
            synchronized.synchronizable = true
            try keychain.handler.add(synchronized)
            try keychain.lock()
            // By reference, and an attribute that is another.
            var query = ItemQuery.password([.account: .text("other")])
            query.persistentReference = item.persistentReference
            let other = #expect(throws: KeychainError.self) {
                try keychain.handler.handle(.delete(query), from: caller)
            }
            #expect(other?.code == .itemNotFound)
            // As the owner, whose search is not told apart by synchronizability: what is uncertain is refused.
            let uncertain = #expect(throws: KeychainError.self) {
                try keychain.handler.handle(.delete(.password(limit: .all)), from: .owner)
            }
            #expect(uncertain?.code == .interactionNotAllowed)
            try keychain.unlock("1234")
            var everything = ItemQuery.password(limit: .all)
            everything.synchronizable = .any
            #expect(try keychain.handler.find(everything).count == 3)
        }
    }

    // MARK: Trouble with files

    enum Trouble: CaseIterable { case keybagGone, keybagDamaged, databaseGone }

    @Test("A program that has the store open can lock it whatever becomes of the files", arguments: Trouble.allCases)
    func lockInTrouble(trouble: Trouble) throws {
        try withPasscode { keychain throws in
            let keyring = try #require(KernelKeyring.ofUser)
            let store = ClosedStore(directory: keychain.directory)
            let name = try keychain.blobName()
            // One that did nothing yet, as a watcher does.
            let watcher = try Engine(keychain.configuration)
            #expect(keyring.find(name) != nil)
            switch trouble {
            case .keybagGone: try FileManager.default.removeItem(at: store.keybag)
            case .keybagDamaged: try Data(count: 100).write(to: store.keybag)
            case .databaseGone: try FileManager.default.removeItem(at: store.database)
            }
            let error = { () -> KeychainError? in
                do throws(KeychainError) { _ = try watcher.handle(.lock(.now), from: caller) } catch { return error }
                return nil
            }()
            #expect((error == nil) == (trouble == .databaseGone))
            #expect(keyring.find(name) == nil)
        }
    }

    @Test("A check before the first unlock says how many items it could not look at", arguments: KeychainHost.allCases)
    func checkBeforeFirstUnlock(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            try keychain.handler.add(.password("ck", protection: .afterFirstUnlock))
            try keychain.handler.add(.password("dk", protection: .always))
            keychain.restart()
            #expect(try keychain.handler.lockedCountInCheck() == "2 items are")
        }
    }

    @Test(
        "A lock takes what a change of the keybag that was cut short left in the keyring",
        .enabled(if: hasKeyring, "the kernel lends no keyring"))
    func leftByACrash() throws {
        try withPasscode { keychain throws in
            let keyring = try #require(KernelKeyring.ofUser)
            let keys = keychain.engine.keys
            let present = try keychain.blobName()
            let serial = try #require(keyring.find(present))
            let sealed = try #require(try keyring.read(serial, capacity: 1024) { Data($0) })
            let former = keys.blobName(.whenUnlocked, bagGeneration: 1)
            try keyring.put(sealed, as: former, lifetime: nil)
            // Another store's keys are not its business.
            let foreign = "keychain:\(UUID().uuidString.lowercased()):1-1:1:A"
            try keyring.put(sealed, as: foreign, lifetime: nil)
            try keychain.lock()
            #expect(keyring.find(former) == nil && keyring.find(present) == nil)
            #expect(keyring.find(foreign) != nil)
            keyring.removeAll { $0 == foreign }
        }
    }

    @Test("After a lock a writer still waits for another one")
    func waitsAfterLock() throws {
        try withPasscode { keychain throws in
            try keychain.handler.add(.password("b"))
            try keychain.lock()
            try keychain.unlock("1234")
            let isHeld = DispatchSemaphore(value: 0)
            let hasEnded = Atomic(false)
            let queue = keychain.engine.store.writeQueue
            let other = try Engine(keychain.configuration)
            let thread = Thread {
                try? other.store.write { _ in
                    isHeld.signal()
                    while !hasEnded.load(ordering: .relaxed), !queue.isWaitedIn { usleep(1_000) }
                }
            }
            thread.start()
            isHeld.wait()
            defer { hasEnded.store(true, ordering: .relaxed) }
            try keychain.handler.add(.password("c"))
        }
    }

    // MARK: Races

    @Test("A lock while a passcode is being checked wins", arguments: KeychainHost.allCases)
    func lockDuringUnlock(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            try keychain.lock()
            let keys = keychain.engine.keys
            let bag = try keys.requirePasscode()
            let moment = try keys.moment()
            let opened = try keys.open(bag, with: .of("1234"))
            try keychain.lock(.now)
            #expect(try keys.publish(opened.keys, bag, asOf: moment) == false)
            #expect(try isLocked(keychain))
        }
    }

    @Test("A change of passcode that a lock overtakes does not unlock", arguments: KeychainHost.allCases)
    func lockDuringChange(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let keys = keychain.engine.keys
            let moment = try keys.moment()
            let bag = try keys.requirePasscode()
            let opened = try keys.open(bag, with: .of("1234"))
            try keychain.lock()
            _ = try keys.publish(opened.keys, bag, tiers: KeyTier.behindPasscode, asOf: moment)
            keys.forgetSnapshot()
            #expect(try isLocked(keychain))
        }
    }

    @Test(
        "The epoch changes with every lock and unlock, and whoever waits for that is told",
        arguments: KeychainHost.allCases)
    func epoch(host: KeychainHost) throws {
        try withPasscode(host) { keychain throws in
            let first = try keychain.lockStatus.epoch
            #expect(try keychain.handler.waitForLockChange(since: first, timeout: .zero) == first)
            try keychain.lock()
            let second = try keychain.handler.waitForLockChange(since: first, timeout: .seconds(60))
            #expect(second != first)
            let thread = Thread { try? keychain.unlock("1234") }
            thread.start()
            #expect(try keychain.handler.waitForLockChange(since: second, timeout: .seconds(60)) != second)
        }
    }

    // MARK: The kernel's keyring

    @Test(
        "What the kernel keeps opens with nothing but the device key, the keybag and its own place",
        .enabled(if: hasKeyring, "the kernel lends no keyring"))
    func blob() throws {
        try withPasscode { keychain throws in
            let keyring = try #require(KernelKeyring.ofUser)
            let keys = keychain.engine.keys
            var name = try keychain.blobName()
            let serial = try #require(keyring.find(name))
            let sealed = try #require(try keyring.read(serial, capacity: 1024) { Data($0) })
            // Another program of the user puts something in its place: it is ignored.
            for forged in [Data(count: 10), sealed.prefix(100), Data(sealed.reversed()), Data(count: 900)] {
                try keyring.put(forged, as: name, lifetime: nil)
                keys.forgetSnapshot()
                #expect(try isLocked(keychain))
                let error = #expect(throws: KeychainError.self) { try keychain.handler.secret(of: "a") }
                #expect(error?.code == .interactionNotAllowed)
            }
            try keyring.put(sealed, as: name, lifetime: nil)
            keys.forgetSnapshot()
            #expect(try keychain.handler.secret(of: "a") == "secret")
            // Under another keybag it opens nothing.
            try keychain.handler.changePasscode(from: "1234", to: "5678")
            name = try keychain.blobName()
            try keyring.put(sealed, as: name, lifetime: nil)
            keys.forgetSnapshot()
            #expect(try isLocked(keychain))
        }
    }

    @Test("Keys that are put back into the keyring after a lock open nothing", .enabled(if: hasKeyring))
    func replay() throws {
        try withPasscode { keychain throws in
            let keyring = try #require(KernelKeyring.ofUser)
            let name = try keychain.blobName()
            let serial = try #require(keyring.find(name))
            let sealed = try #require(try keyring.read(serial, capacity: 1024) { Data($0) })
            try keychain.lock(.now)
            for isUnlockedSince in [false, true] {
                if isUnlockedSince {
                    try keychain.unlock("1234")
                    #expect(try keychain.handler.secret(of: "a") == "secret")
                }
                try keyring.put(sealed, as: name, lifetime: nil)
                // A program that has the store open, and one that opens it now.
                for engine in [keychain.engine, try Engine(keychain.configuration)] {
                    engine.keys.forgetSnapshot()
                    let error = #expect(throws: KeychainError.self) { try engine.secret(of: "a") }
                    #expect(error?.code == .interactionNotAllowed)
                }
                #expect(try isLocked(keychain))
                if !isUnlockedSince { #expect(keyring.find(name) == nil) }
            }
        }
    }

    enum Loss: CaseIterable { case gone, empty, cut, damaged, pipe }

    @Test("Without a record of the lock the store is locked, whatever the keyring has", arguments: Loss.allCases)
    func recordLost(loss: Loss) throws {
        try withPasscode { keychain throws in
            try keychain.handler.add(.password("ck", protection: .afterFirstUnlock))
            let file = keychain.directory.appendingPathComponent("store/lock-state")
            let record = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            switch loss {
            case .gone: break
            case .empty: try Data().write(to: file)
            case .cut: try record.dropLast().write(to: file)
            case .damaged: try Data(record.reversed()).write(to: file)
            case .pipe: #expect(mkfifo(file.path, 0o600) == 0)
            }
            let other = try Engine(keychain.configuration)
            for engine in [keychain.engine, other] {
                let error = #expect(throws: KeychainError.self) { try engine.secret(of: "a") }
                #expect(error?.code == .interactionNotAllowed)
            }
            // A lock leaves what is accessible after the first unlock.
            #expect(try other.secret(of: "ck") == "secret")
            if loss == .pipe { try FileManager.default.removeItem(at: file) }
            _ = try other.handle(.unlock(.of("1234")), from: caller)
            #expect(try other.secret(of: "a") == "secret")
        }
    }

    @Test("A lock comes though somebody holds its record, and a pipe is where listeners would be")
    func heldUp() throws {
        try withPasscode { keychain throws in
            let store = keychain.directory.appendingPathComponent("store")
            #expect(mkfifo(store.appendingPathComponent("lock-listeners").path, 0o600) == 0)
            try keychain.lock(.withGrace)
            #expect(try isLocked(keychain))
            try keychain.unlock("1234")
            let held = open(store.appendingPathComponent("lock-state").path, O_RDWR | O_CLOEXEC)
            #expect(flock(held, LOCK_EX) == 0)
            try keychain.lock(.now)
            #expect(try isLocked(keychain))
            // What another process, or one with a keyring of its own, sees.
            let error = #expect(throws: KeychainError.self) { try Engine(keychain.configuration).secret(of: "a") }
            #expect(error?.code == .interactionNotAllowed)
            close(held)
            try keychain.unlock("1234")
            #expect(try keychain.handler.secret(of: "a") == "secret")
        }
    }

    @Test("A lock that does not wait for a change in progress is not undone by it")
    func forcedDuringChange() throws {
        try withPasscode { keychain throws in
            let other = try Engine(keychain.configuration)
            let keys = keychain.engine.keys
            // The one in the midst has read the record, and writes it after the lock.
            try keys.state.update { record throws(KeychainError) in
                record.epoch &+= 1
                record.unlockedAt = record.epoch
                _ = try other.handle(.lock(.now), from: caller)
            }
            #expect(keys.state.read()?.isLocked == true)
            for engine in [keychain.engine, other, try Engine(keychain.configuration)] {
                let error = #expect(throws: KeychainError.self) { try engine.secret(of: "a") }
                #expect(error?.code == .interactionNotAllowed)
            }
            try keychain.unlock("1234")
            #expect(try other.secret(of: "a") == "secret")
        }
    }

    @Test("What a watcher that is gone left unlocked is locked by the boot clock too", .enabled(if: hasKeyring))
    func leaseByBootClock() throws {
        try withPasscode { keychain throws in
            let keyring = try #require(KernelKeyring.ofUser)
            _ = try keychain.handler.handle(.renewLease, from: caller)
            let name = try keychain.blobName()
            let serial = try #require(keyring.find(name))
            // Another program of the user takes the kernel's time-out away.
            keyring.setLifetime(of: serial, to: nil)
            keychain.clock.advance(by: 61)
            #expect(try isLocked(keychain))
            try keychain.unlock("1234")
            #expect(try keychain.handler.secret(of: "a") == "secret")
        }
    }

    @Test("A watcher that comes back after its promise ran out brings nothing back", .enabled(if: hasKeyring))
    func lateLease() throws {
        try withPasscode { keychain throws in
            let keyring = try #require(KernelKeyring.ofUser)
            _ = try keychain.handler.handle(.renewLease, from: caller)
            // As in a user namespace whose keyring the watcher does not reach.
            keyring.setLifetime(of: try #require(keyring.find(try keychain.blobName())), to: nil)
            keychain.clock.advance(by: 61)
            _ = try keychain.handler.handle(.renewLease, from: caller)
            #expect(try keychain.lockStatus.isWatched)
            #expect(try isLocked(keychain))
        }
    }

    @Test("A lock with the keybag of before the passcode in place reaches those who hold the keys")
    func lockWithFormerKeybag() throws {
        try withKeychain(.embeddedWithoutKeyring) { keychain throws in
            let file = keychain.directory.appendingPathComponent("store/keybag")
            let former = try Data(contentsOf: file)
            try keychain.setPasscode("1234")
            let present = try Data(contentsOf: file)
            #expect(try isLocked(keychain) == false)
            try former.write(to: file)
            let error = #expect(throws: KeychainError.self) {
                try Engine(.test(in: keychain.directory, clock: keychain.clock, usesKeyring: false))
                    .handle(.lock(.now), from: .owner)
            }
            #expect(error?.code == .noPasscode)
            try present.write(to: file)
            #expect(try isLocked(keychain))
        }
    }

    @Test("A copy of a store opens nothing while the other one is unlocked, and its lock locks the copy alone")
    func copies() throws {
        try withPasscode { keychain throws in
            try withTemporaryDirectory { directory in
                let files = FileManager.default
                for part in ["store", "device"] {
                    try files.copyItem(
                        at: keychain.directory.appendingPathComponent(part), to: directory.appendingPathComponent(part))
                }
                let copy = try Engine(.test(in: directory, clock: keychain.clock))
                defer { copy.withdrawKeys() }
                let error = #expect(throws: KeychainError.self) { try copy.secret(of: "a") }
                #expect(error?.code == .interactionNotAllowed)
                _ = try copy.handle(.unlock(.of("1234")), from: caller)
                #expect(try copy.secret(of: "a") == "secret")
                _ = try copy.handle(.lock(.now), from: caller)
                #expect(throws: KeychainError.self) { try copy.secret(of: "a") }
                #expect(try keychain.handler.secret(of: "a") == "secret")
                try keychain.lock(.now)
                _ = try copy.handle(.unlock(.of("1234")), from: caller)
                #expect(try isLocked(keychain))
                #expect(try copy.secret(of: "a") == "secret")
            }
        }
    }

    @Test("Two copies whose passcodes were set apart have nothing to do with each other's keys")
    func copiesApart() throws {
        try withKeychain { keychain in
            try keychain.handler.add(.password("a"))
            try withTemporaryDirectory { directory in
                for part in ["store", "device"] {
                    try FileManager.default.copyItem(
                        at: keychain.directory.appendingPathComponent(part), to: directory.appendingPathComponent(part))
                }
                let copy = try Engine(.test(in: directory, clock: keychain.clock))
                defer { copy.withdrawKeys() }
                try keychain.setPasscode("1111")
                try copy.setPasscode("2222")
                _ = try copy.handle(.lock(.now), from: caller)
                #expect(try keychain.handler.secret(of: "a") == "secret")
                let error = #expect(throws: KeychainError.self) { try copy.secret(of: "a") }
                #expect(error?.code == .interactionNotAllowed)
                let refused = #expect(throws: KeychainError.self) { try copy.add(.password("b")) }
                #expect(refused?.code == .interactionNotAllowed)
                _ = try copy.handle(.unlock(.of("2222")), from: caller)
                #expect(try copy.secret(of: "a") == "secret")
            }
        }
    }

    @Test(
        "No other user reads the keys from the kernel",
        .enabled(if: geteuid() == 0 && hasKeyring, "only root can be another user"))
    func otherUser() throws {
        try withPasscode { keychain throws in
            let serial = try #require(KernelKeyring.ofUser?.find(try keychain.blobName()))
            // Everything for the possessor and the owner, nothing for groups and others.
            #expect(try keychain.kernelEntry()?.contains(" 3f3f0000 ") == true)
            #expect(try AgentProcess.status(asUser: 12345, "readkey", "\(serial)") == EACCES)
            #expect(try AgentProcess.status(asUser: 0, "readkey", "\(serial)") == 0)
        }
    }

    @Test(
        "Nothing is left in the keyring when a passcode is removed, nor of the locked tier after a lock",
        .enabled(if: hasKeyring, "the kernel lends no keyring"))
    func leftovers() throws {
        try withPasscode { keychain throws in
            let keyring = try #require(KernelKeyring.ofUser)
            let (locked, open) = (try keychain.blobName(), try keychain.blobName(.afterFirstUnlock))
            try keychain.lock()
            #expect(keyring.find(locked) == nil)
            #expect(keyring.find(open) != nil)
            try keychain.handler.changePasscode(from: "1234", to: "5678")
            #expect(keyring.find(open) == nil)
            let changed = try keychain.blobName(.afterFirstUnlock)
            #expect(keyring.find(changed) != nil)
            _ = try keychain.handler.handle(.passcode(.remove(old: .of("5678"))), from: caller)
            #expect(keyring.find(changed) == nil)
        }
    }

    // MARK: Device keys

    @Test("A service's credential opens the store it made, and bad ones are refused with the reason")
    func credential() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("keychain.device-key")
            try Data((0..<32).map { UInt8($0) }).write(to: file)
            chmod(file.path, 0o400)
            var configuration = EngineConfiguration.test(in: directory)
            configuration.deviceKeyCredential = file
            try Engine(configuration).add(.password("a"))
            #expect(try Engine(configuration).secret(of: "a") == "secret")
            #expect(!FileManager.default.fileExists(atPath: directory.appendingPathComponent("device").path))
            for (mode, isGood) in [(0o440, true), (0o444, false), (0o420, false), (0o400, true)] {
                chmod(file.path, mode_t(mode))
                #expect(((try? Engine(configuration)) != nil) == isGood, "\(String(mode, radix: 8))")
            }
            configuration.deviceKeyCredential = directory.appendingPathComponent("absent")
            let error = #expect(throws: KeychainError.self) { try Engine(configuration) }
            #expect(error?.message.contains("is missing") == true)
        }
    }
}

extension TestKeychain {
    /// What the kernel calls the keys of a tier.
    fileprivate func blobName(_ tier: KeyTier = .whenUnlocked) throws -> String {
        engine.keys.blobName(tier, bagGeneration: try engine.keys.begin().snapshot.bag.generation)
    }

    /// By what the kernel shows of its keys; nil if it sets no term.
    fileprivate func secondsUntilKernelDropsKeys() throws -> Int? {
        let term = try kernelEntry()?.split(separator: " ")[3]
        return term.flatMap { $0.hasSuffix("s") ? Int($0.dropLast()) : $0 == "1m" ? 60 : nil }
    }

    /// The line that the kernel shows of the key.
    fileprivate func kernelEntry() throws -> Substring? {
        guard let serial = KernelKeyring.ofUser?.find(try blobName()) else { return nil }
        let lines = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/keys")).readToEnd() ?? Data()
        return String(decoding: lines, as: UTF8.self).split(separator: "\n").first { line in
            line.split(separator: " ").first.flatMap { Int32($0, radix: 16) } == serial
        }
    }
}
