import Dispatch
import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// The kernel's keyring of this user, as it is behind every unlock.
@Suite(.enabled(if: hasKeyring)) struct KernelKeyringTests {
    @Test("What a key says of its store's directory counts in its own mount namespace alone")
    func place() throws {
        let directory = URL(fileURLWithPath: "/somewhere/store")
        func path(_ bytes: Data) -> String?? {
            bytes.withUnsafeBytes { bytes in KeyringPayload(bytes).map(\.path) }
        }
        var bytes = KeyringPayload.bytes(of: Data("sealed".utf8), in: directory)
        #expect(path(bytes) == "/somewhere/store")
        #expect(bytes.withUnsafeBytes { bytes in KeyringPayload(bytes).map { Data($0.sealed) } } == Data("sealed".utf8))
        let number = try #require(bytes.range(of: Data("mnt:[".utf8))?.upperBound)
        bytes[number] ^= 1
        #expect(path(bytes) == .some(nil))
        #expect(path(Data([0])) == .none)
        #expect(path(Data([0xff, 0xff, 1])) == .none)
    }

    @Test("Keys that come and go leave nothing of the user's quota used up")
    func quota() throws {
        // As root, as a user of its own: keys of other tests and programs would count, too.
        let user = geteuid() == 0 ? 1_000_000 + getpid() : 0
        let (lines, status) = try HelperProcess(words: ["agent", "as", "\(user)", "putkeys", "1200"]).finish()
        #expect(status == 0)
        let left = try #require(lines.first.flatMap { Int($0) })
        #expect(left < 1_200, "the kernel forgot \(left) bytes")
    }

    @Test("A program that has put a key there starts threads that cost nothing of the quota")
    func threads() async throws {
        let keyring = try #require(KernelKeyring.ofUser)
        let name = "keychain-test:\(getpid()):threads"
        let count = 150
        let before = try usedKeys()
        let added = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result {
                        try keyring.put(Data("sealed".utf8), as: name, lifetime: nil)
                        let end = DispatchSemaphore(value: 0)
                        for _ in 0..<count { Thread.detachNewThread { end.wait() } }
                        defer { for _ in 0..<count { end.signal() } }
                        return try usedKeys() - before
                    })
            }
        }
        keyring.removeAll { $0 == name }
        // The rest is for keys of other tests.
        #expect(try added.get() < count / 2)
    }

    /// How many keys count against this user's quota, from /proc/key-users (proc_key-users(5)).
    private func usedKeys() throws -> Int {
        let table = try String(contentsOfFile: "/proc/key-users", encoding: .utf8)
        let line = table.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix("\(geteuid()):") }
        let used = try #require(line).split(separator: " ").dropLast().last
        return try #require(used.flatMap { Int($0.split(separator: "/")[0]) })
    }
}
