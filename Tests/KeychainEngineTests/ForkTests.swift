import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@Suite struct ForkTests {
    @Test("A forked child is refused rather than given keys that the kernel wiped")
    func child() throws {
        try withTemporaryDirectory { directory in
            let (lines, status) = try AgentProcess("fork", directory.path).finish()
            #expect(status == 0)
            #expect(lines == ["0", "7"])
            let engine = try ClosedStore(directory: directory).open()
            #expect(try engine.find(.password(limit: .all)).count == 1)
        }
    }
}
