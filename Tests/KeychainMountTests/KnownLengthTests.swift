import DataProtectionCore
import Foundation
import KeychainClient
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainMount

/// What the mount remembers of the lengths and the content of files.
@Suite struct KnownLengthTests {
    private func withFile(_ body: (URL, ProtectedFileHandle) throws -> Void) throws {
        try withKeychain(.embedded) { keychain in
            let files = ProtectedFiles(
                connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            let url = keychain.directory.appendingPathComponent("file")
            try body(url, try files.open(url, for: .writing, options: .create))
        }
    }

    @Test func contentThatWasWrittenAndCutOffAgainLeavesAnotherMark() throws {
        for length in [UInt64(0), 100_000] {
            try withFile { _, handle in
                try handle.truncate(to: length)
                let before = try handle.state().mark
                try handle.write(Data(repeating: 1, count: 5000), at: 0)
                if length == 0 { try handle.truncate(to: 0) } else { try handle.punch(0..<length) }
                let after = try handle.state().mark
                #expect(after != before)
                try handle.sync()
                #expect(try handle.state().mark == after)
            }
        }
    }

    @Test(arguments: [(0, false), (3, false), (4, true)])
    func aLengthIsRememberedIfALaterChangeWouldHaveAnotherTime(_ age: Int, _ isRemembered: Bool) throws {
        try withFile { url, handle in
            try handle.write(Data(count: 100), at: 0)
            var status = stat()
            #expect(stat(url.path, &status) == 0)
            let node = Node(2, OpenDescriptor(open(url.path, O_RDONLY | O_CLOEXEC)), status)
            let (lengths, now) = (KnownLengths(), status.st_ctim.tv_sec + age)
            #expect(lengths.length(of: node, status, now: now) == 100)
            // Another program changes the file, which keeps its size and its times.
            try handle.write(Data(count: 200), at: 0)
            #expect(lengths.length(of: node, status, now: now) == (isRemembered ? 100 : 200))
            var later = status
            later.st_ctim.tv_nsec ^= 1
            #expect(lengths.length(of: node, later, now: now) == 200)
            #expect(lengths.length(of: node, status, now: now) == 200)
            // An open file has the length that it really has.
            node.open(made: handle)
            try handle.write(Data(count: 300), at: 0)
            #expect(lengths.length(of: node, later, now: now) == 300)
        }
    }
}
