import Dispatch
import Foundation
import KeychainClient
import KeychainLocalAuthentication
import KeychainSecurity
import SwiftKeychain
import SwiftKeychainTesting
import Testing

@Suite("Keychains for tests") struct TestKeychainTests {
    @Test("Tests side by side do not see each other", arguments: 0..<4)
    func apart(_ number: Int) async throws {
        let keychain = try TestKeychain().keychain(service: "service")
        for _ in 0..<10 {
            #expect(try await keychain.count() == 0)
            try await keychain.set(number, for: "k")
            await Task.yield()
            #expect(try await keychain.value(for: "k") == number)
            try await keychain.removeAll()
        }
    }

    @Test("A value finds its keychain on threads, queues and in detached tasks")
    func everywhere() async throws {
        let test = try TestKeychain()
        let keychain = test.keychain(service: "service")
        try await Task.detached { try await keychain.set("task", for: "task") }.value
        try await Self.onQueue { try keychain.set("queue", for: "queue") }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do { try keychain.set("thread", for: "thread") } catch { Issue.record(error) }
                continuation.resume()
            }
        }
        #expect(try await keychain.keys().sorted() == ["queue", "task", "thread"])
    }

    private static func onQueue(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    @Test("Code with SecItem and LAContext finds the keychain within the closure alone")
    func closure() throws {
        try withTestKeychain(passcode: "1234") { test throws in
            #expect(count() == 0)
            let item = [kSecClass: kSecClassGenericPassword, kSecAttrService: "TestKeychainTests"] as [CFString: Any]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(count() == 1)
            #expect(try Keychain(service: "TestKeychainTests").count() == 1)
            #expect(try KeychainLock().hasPasscode)
            test.person.types("1234")
            let context = LAContext()
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        }
    }

    @Test("The closure may wait")
    func asynchronousClosure() async throws {
        try await withTestKeychain { _ in
            #expect(count() == 0)
            try await Task { try await Keychain(service: "TestKeychainTests").set("x", for: "k") }.value
            #expect(count() == 1)
        }
    }

    private func count() -> Int? {
        var result: CFTypeRef?
        let query =
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "TestKeychainTests", kSecReturnAttributes: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ] as [CFString: Any]
        switch SecItemCopyMatching(query as CFDictionary, &result) {
        case errSecSuccess: return (result as? [Any])?.count
        case errSecItemNotFound: return 0
        default: return nil
        }
    }

    @Test("The test locks, unlocks and restarts")
    func lock() throws {
        let test = try TestKeychain(passcode: "1234")
        let keychain = test.keychain(service: "service")
        let later = test.keychain(service: "later", accessibility: .afterFirstUnlock)
        try keychain.set("x", for: "k")
        try later.set("y", for: "k")
        try test.lock.lock()
        let error = #expect(throws: KeychainError.self) { try keychain.string(for: "k") }
        #expect(error?.code == .interactionNotAllowed)
        #expect(try later.string(for: "k") == "y")
        test.restartSystem()
        #expect(try test.lock.state == .neverUnlocked)
        #expect(throws: KeychainError.self) { try later.string(for: "k") }
        try test.lock.unlock(passcode: Data("1234".utf8))
        #expect(try keychain.string(for: "k") == "x")
    }

    @Test("The clock is the test's")
    func clock() throws {
        let test = try TestKeychain()
        var item = Keychain.GenericPassword()
        item.service = "service"
        let first = try test.items.add(item)
        #expect(first.created == test.clock.date)
        test.clock.advance(by: .seconds(3600))
        try test.items.update(Keychain.GenericPassword.self) {
            $0.service = "service"
        } _: {
            $0.comment = "later"
        }
        let second = try test.items.find(Keychain.GenericPassword.self).first
        #expect(second?.modified?.timeIntervalSince(first.created!) == 3600)
    }

    @Test("The person types, declines, and touches the reader", .timeLimit(.minutes(2)))
    func person() async throws {
        let test = try TestKeychain(passcode: "1234")
        var bank = test.keychain(service: "bank").protected(by: .init(.whenUnlocked, consent: .passcode))
        bank.reason = "to pay the bill"
        try await bank.set("4711", for: "pin")
        test.person.types("1234")
        #expect(try await bank.string(for: "pin") == "4711")
        test.person.declines()
        await #expect(throws: KeychainError.self) { try await bank.string(for: "pin") }
        #expect(test.person.questions.map(\.wanted) == [.passcode, .passcode])
        #expect(test.person.questions.map(\.reason) == ["to pay the bill", "to pay the bill"])

        test.person.enrolledFingers = ["thumb"]
        let door = test.keychain(service: "door").protected(by: .init(.whenUnlocked, consent: .biometry))
        try await door.set("open", for: "key")
        test.person.touches(with: "thumb")
        #expect(try await door.string(for: "key") == "open")
        test.person.touches(with: "nose")
        await #expect(throws: KeychainError.self) { try await door.string(for: "key") }

        test.person.hesitates()
        let reading = Task { try await bank.string(for: "pin") }
        while test.person.questions.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
        reading.cancel()
        await #expect(throws: KeychainError.self) { try await reading.value }
    }

    @Test("Another program holds other groups")
    func programs() throws {
        let test = try TestKeychain(accessGroups: ["app", "shared"])
        try test.keychain(service: "s", accessGroup: "shared").set("x", for: "k")
        try test.keychain(service: "s").set("mine", for: "k")
        let other = test.asProgram(accessGroups: ["other", "shared"], Keychain(service: "s", accessGroup: "shared"))
        #expect(try other.string(for: "k") == "x")
        let error = #expect(throws: KeychainError.self) { try other.inGroup("app").string(for: "k") }
        #expect(error?.code == .missingEntitlement)
    }

    @Test("Nothing stays when the test is over")
    func gone() throws {
        var test: TestKeychain? = try TestKeychain()
        let directory = try #require(test?.place)
        try test?.keychain(service: "s").set("x", for: "k")
        #expect(FileManager.default.fileExists(atPath: directory.path))
        test = nil
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }

    /// What tells processes apart in one namespace says nothing in another one with the same /dev/shm.
    @Test("Leftovers go, and not what somebody has in use, what others may write to, or what a link leads to")
    func leftovers() throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        func make(_ name: String, _ mode: mode_t = 0o700) throws -> URL {
            let url = place.appendingPathComponent(name, isDirectory: true)
            try #require(mkdir(url.path, mode) == 0 && chmod(url.path, mode) == 0)
            try Data().write(to: url.appendingPathComponent("file"))
            return url
        }
        // No process has such a number.
        let prefix = "swift-keychain-test-2147483647-"
        let used = try make(prefix + "used")
        let lock = open(used.path, O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        let kept = [used, try make(prefix + "open", 0o777), try make("swift-keychain-other")]
        let target = try make("target")
        let link = place.appendingPathComponent(prefix + "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        let left = try make(prefix + "left")
        TestKeychain.removeLeftovers(in: place)
        #expect(!FileManager.default.fileExists(atPath: left.path))
        for url in kept + [target, link] {
            #expect(FileManager.default.fileExists(atPath: url.appendingPathComponent("file").path), "\(url.path)")
        }
        flock(lock, LOCK_UN)
        TestKeychain.removeLeftovers(in: place)
        #expect(!FileManager.default.fileExists(atPath: used.path))
    }
}
