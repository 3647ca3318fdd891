import DataProtection
import DataProtectionCore
import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

/// What an application is told of the lock.
@Suite struct AvailabilityTests {
    @Test("Asking makes no keychain, and a file of another one is not said to be locked")
    func askingMakesNothing() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(Data("content".utf8), to: url)
            var configuration = KeychainConfiguration()
            configuration.storeDirectory = directory.appendingPathComponent("none/store")
            configuration.deviceKeyDirectory = directory.appendingPathComponent("none/device")
            let others = ProtectedFiles(configuration)
            #expect(others.isProtectedDataAvailable)
            #expect(try others.protection(of: url) != nil)
            #expect(try others.info(of: url).refusal?.code == .wrongKey)
            let error = #expect(throws: DataProtectionError.self) { try others.read(from: url) }
            #expect(error?.code == .wrongKey && error?.message.contains("there is none") == true)
            #expect(!FileManager.default.fileExists(atPath: directory.appendingPathComponent("none").path))
            // Once it has one of its own.
            try others.write(Data(), to: directory.appendingPathComponent("own"))
            let foreign = #expect(throws: DataProtectionError.self) { try others.read(from: url) }
            #expect(foreign?.code == .wrongKey)
            #expect(foreign?.cocoaError(.reading).code == .fileReadUnknown)
        }
    }

    /// An application's files, one of class A among them, in an unlocked keychain with a passcode.
    private func withApplication(
        _ host: KeychainHost, _ body: (TestKeychain, ProtectedFiles, URL) async throws -> Void
    ) async throws {
        try await withKeychain(host) { keychain async throws in
            let files = ProtectedFiles(connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            try keychain.setPasscode("1234")
            let url = keychain.directory.appendingPathComponent("file")
            try files.write(Data("content".utf8), to: url, protection: .complete)
            try await LockNotice.$patience.withValue(.seconds(3600)) { try await body(keychain, files, url) }
        }
    }

    /// Locks on a thread of its own, since the lock waits for those who are told.
    ///
    /// On a busy machine that may take longer than a client of a daemon waits for its answer. Whether it was locked the
    /// tests see themselves.
    private func lockMeanwhile(_ keychain: TestKeychain) {
        let thread = Thread {
            do {
                try keychain.lock()
            } catch {
                guard (error as? KeychainError)?.code != .notAvailable else { return }
                Issue.record(error)
            }
        }
        thread.start()
    }

    @Test(
        "An application is told when its files have stopped to open and when they open again",
        arguments: KeychainHost.carriers)
    func changes(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain async throws in
            let files = ProtectedFiles(connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            #expect(files.isProtectedDataAvailable, "without a passcode it always is")
            try keychain.setPasscode("1234")
            #expect(files.isProtectedDataAvailable)
            var changes = files.protectedDataChanges.makeAsyncIterator()
            for _ in 1...2 {
                // Without notice.
                try keychain.lock(.now)
                #expect(await changes.next() == .didBecomeUnavailable)
                #expect(!files.isProtectedDataAvailable)
                try keychain.unlock("1234")
                #expect(await changes.next() == .didBecomeAvailable)
                #expect(files.isProtectedDataAvailable)
            }
        }
    }

    @Test(
        "Whoever is told of a lock in time can still read, and not after it", arguments: KeychainHost.allCases)
    func inTime(host: KeychainHost) async throws {
        try await withApplication(host) { keychain, files, url async throws in
            var seen: [ProtectedDataChange] = []
            let changes = files.protectedDataChanges
            lockMeanwhile(keychain)
            for await change in changes {
                seen.append(change)
                switch change {
                case .willBecomeUnavailable:
                    // The lock waits for this body, however long it takes within its time.
                    try await Task.sleep(for: .milliseconds(100))
                    #expect(files.isProtectedDataAvailable)
                    #expect(try files.read(from: url) == Data((seen.count == 1 ? "content" : "saved").utf8))
                    try files.write(Data("saved".utf8), to: url, protection: .complete)
                case .didBecomeUnavailable:
                    #expect(throws: DataProtectionError.self) { try files.read(from: url) }
                    if seen.count == 2 { try keychain.unlock("1234") }
                case .didBecomeAvailable:
                    #expect(try files.read(from: url) == Data("saved".utf8))
                    if seen.count == 3 { lockMeanwhile(keychain) }
                }
                if seen.count == 5 { break }
            }
            #expect(
                seen == [
                    .willBecomeUnavailable, .didBecomeUnavailable, .didBecomeAvailable, .willBecomeUnavailable,
                    .didBecomeUnavailable,
                ])
        }
    }

    @Test("The lock comes when the loop is left, or nobody has the changes any more", arguments: KeychainHost.carriers)
    func left(host: KeychainHost) async throws {
        try await withApplication(host) { keychain, files, _ async throws in
            let changes = files.protectedDataChanges
            lockMeanwhile(keychain)
            for await change in changes {
                #expect(change == .willBecomeUnavailable)
                break
            }
            // The clock stands still: a notice that is not given back would keep the lock for ever.
            try await keychain.awaitState(.locked)
        }
    }

    @Test("Whoever takes the changes and never looks is waited for, for a while", arguments: KeychainHost.carriers)
    func neverLooking(host: KeychainHost) async throws {
        try await withApplication(host) { keychain, files, _ async throws in
            let changes = files.protectedDataChanges
            lockMeanwhile(keychain)
            try await keychain.awaitAnnouncement()
            keychain.clock.advance(by: 3.1)
            try await keychain.awaitState(.locked)
            withExtendedLifetime(changes) {}
        }
    }

    @Test("A lock that was announced and never came is told of as well")
    func lapsed() async throws {
        try await withApplication(.embedded) { keychain, files, _ async throws in
            var changes = files.protectedDataChanges.makeAsyncIterator()
            lockMeanwhile(keychain)
            #expect(await changes.next() == .willBecomeUnavailable)
            // What the lock does in the end, and what its maker's end leaves, differ in this alone.
            try keychain.lock(.now)
            try keychain.unlock("1234")
            #expect(await changes.next() == .didBecomeAvailable)
        }
    }

    @Test("The same as notifications, of which the first is in time", arguments: KeychainHost.carriers)
    func notifications(host: KeychainHost) async throws {
        try await withApplication(host) { keychain, files, url async throws in
            let center = NotificationCenter()
            let (posted, continuation) = AsyncStream.makeStream(of: (Notification.Name, Bool).self)
            let names = [
                ProtectedFiles.protectedDataWillBecomeUnavailable, ProtectedFiles.protectedDataDidBecomeUnavailable,
                ProtectedFiles.protectedDataDidBecomeAvailable,
            ]
            let observers = names.map { name in
                center.addObserver(forName: name, object: nil, queue: nil) { notification in
                    continuation.yield((notification.name, (try? files.read(from: url)) != nil))
                }
            }
            defer { for observer in observers { center.removeObserver(observer) } }
            let posting = files.postAvailability(to: center)
            var seen = posted.makeAsyncIterator()
            lockMeanwhile(keychain)
            for (name, opens) in zip(names, [true, false, true]) {
                if name == names[2] { try keychain.unlock("1234") }
                let next = await seen.next()
                #expect(next?.0 == name && next?.1 == opens)
            }
            posting.cancel()
        }
    }

    @Test("The names are those of Apple's notifications")
    func names() {
        #expect(
            ProtectedFiles.protectedDataWillBecomeUnavailable.rawValue
                == "UIApplicationProtectedDataWillBecomeUnavailable")
        #expect(
            ProtectedFiles.protectedDataDidBecomeAvailable.rawValue == "UIApplicationProtectedDataDidBecomeAvailable")
    }
}

extension TestKeychain {
    fileprivate func awaitState(_ state: LockState) async throws { try await wait { $0.state == state } }

    fileprivate func awaitAnnouncement() async throws { try await wait { $0.isLocking } }

    private func wait(until isTrue: (LockStatus) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isTrue(lockStatus) {
            try #require(ContinuousClock.now < end, "it does not come")
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
