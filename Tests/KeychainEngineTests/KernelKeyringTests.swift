import Dispatch
import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// The kernel's keyring of this user, as it is behind every unlock.
@Suite(.enabled(if: hasKeyring)) struct KernelKeyringTests {
    @Test(
        "Keys that come and go leave nothing of the user's quota used up")
    func quota() throws {
        let keyring = try #require(KernelKeyring.ofUser)
        let before = try usedBytes()
        for round in 0..<1_200 {
            // Of another name each, as stores have: the next one of the same name would take the place of the last.
            let name = "keychain-test:\(getpid()):\(round)"
            try keyring.put(Data("sealed".utf8), as: name, lifetime: nil)
            keyring.removeAll { $0 == name }
            #expect(keyring.find(name) == nil)
            // The kernel gives the keys' memory back when it has time, and other tests need the quota, too.
            if round % 20 == 0 { try awaitUse(below: before + Self.allowance / 3) }
        }
        // What the kernel would forget is four bytes for each.
        try awaitUse(below: before + Self.allowance)
        #expect(try usedBytes() < before + Self.allowance)
    }

    @Test("A program that has put a key there starts threads that cost nothing of the quota")
    func threads() async throws {
        let keyring = try #require(KernelKeyring.ofUser)
        let name = "keychain-test:\(getpid()):threads"
        let count = 150
        let before = try use().keys
        let added = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result {
                        try keyring.put(Data("sealed".utf8), as: name, lifetime: nil)
                        let end = DispatchSemaphore(value: 0)
                        for _ in 0..<count { Thread.detachNewThread { end.wait() } }
                        defer { for _ in 0..<count { end.signal() } }
                        return try use().keys - before
                    })
            }
        }
        keyring.removeAll { $0 == name }
        // The rest is for keys of other tests.
        #expect(try added.get() < count / 2)
    }

    /// What keys of other tests may take meanwhile.
    private static let allowance = 4_000

    private func awaitUse(below limit: Int) throws {
        let end = ContinuousClock.now + .seconds(1)
        while try usedBytes() >= limit, ContinuousClock.now < end { usleep(10_000) }
    }

    private func usedBytes() throws -> Int { try use().bytes }

    /// Of this user's quota, from /proc/key-users (proc_key-users(5)).
    private func use() throws -> (keys: Int, bytes: Int) {
        let table = try String(contentsOfFile: "/proc/key-users", encoding: .utf8)
        let line = table.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix("\(geteuid()):") }
        let used = try #require(line).split(separator: " ").suffix(2).compactMap { Int($0.split(separator: "/")[0]) }
        try #require(used.count == 2)
        return (used[0], used[1])
    }
}
