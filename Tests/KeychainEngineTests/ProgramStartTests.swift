import Foundation
import KeychainSystem
import Testing

/// Other programs that this one starts.
@Suite struct ProgramStartTests {
    @Test func aProgramHasTheDescriptorsThatItIsGivenAndNoOthers() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var pid: Int32 = 0
        let words = "for n in 0 1 2 3 4 5 6 7 8 9; do [ ! -e /proc/$$/fd/$n ] || printf $n; done"
        // The first one is closed.
        let failure = ProgramStart.spawn(
            "/bin/sh", ["-c", words], [:], (-1, ends[1], ends[1]), more: [ends[0]], &pid)
        #expect(failure == 0 && ProgramStart.awaitEnd(of: pid) == 0)
        var text = [UInt8](repeating: 0, count: 100)
        let count = read(ends[0], &text, text.count)
        #expect(String(decoding: text.prefix(count), as: UTF8.self) == "123")
    }
}
