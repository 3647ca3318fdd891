import DataProtectionCore
import Foundation
import KeychainClient
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainMount

/// What the mount remembers of the lengths of files.
@Suite struct KnownLengthTests {
    @Test(arguments: [(0, false), (3, false), (4, true)])
    func aLengthIsRememberedIfALaterChangeWouldHaveAnotherTime(_ age: Int, _ isRemembered: Bool) throws {
        try withKeychain(.embedded) { keychain in
            let files = ProtectedFiles(
                connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            let url = keychain.directory.appendingPathComponent("file")
            let handle = try files.open(url, for: .writing, options: .create)
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
