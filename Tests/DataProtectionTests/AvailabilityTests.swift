import DataProtection
import Foundation
import Keychain
import KeychainModel
import KeychainTestSupport
import Testing

/// What an application is told of the lock.
@Suite struct AvailabilityTests {
    @Test(
        "An application is told when its files stop to open and when they open again", arguments: KeychainHost.carriers)
    func changes(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain async throws in
            let files = ProtectedFiles(connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            #expect(files.isProtectedDataAvailable, "without a passcode it always is")
            try keychain.setPasscode("1234")
            #expect(files.isProtectedDataAvailable)
            var changes = files.availability.makeAsyncIterator()
            for _ in 1...2 {
                try keychain.lock(.now)
                #expect(await changes.next() == false)
                #expect(!files.isProtectedDataAvailable)
                try keychain.unlock("1234")
                #expect(await changes.next() == true)
                #expect(files.isProtectedDataAvailable)
            }
        }
    }

    @Test("The same as notifications")
    func notifications() async throws {
        try await withKeychain { keychain async throws in
            let files = ProtectedFiles(connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            try keychain.setPasscode("1234")
            let center = NotificationCenter()
            let (posted, continuation) = AsyncStream.makeStream(of: Notification.Name.self)
            let names = [
                ProtectedFiles.protectedDataDidBecomeUnavailable, ProtectedFiles.protectedDataDidBecomeAvailable,
            ]
            let observers = names.map { name in
                center.addObserver(forName: name, object: nil, queue: nil) { continuation.yield($0.name) }
            }
            defer { for observer in observers { center.removeObserver(observer) } }
            let posting = files.postAvailability(to: center)
            var seen = posted.makeAsyncIterator()
            try keychain.lock(.now)
            #expect(await seen.next() == names[0])
            try keychain.unlock("1234")
            #expect(await seen.next() == names[1])
            posting.cancel()
        }
    }
}
