import KeychainSecurity
import Testing

@Suite("Random bytes")
struct SecRandomTests {
    @Test("Exactly the bytes asked for are written", arguments: [0, 1, 32, 255, 256, 257, 1000, 100_000])
    func fillsExactly(count: Int) {
        var bytes = [UInt8](repeating: 0xA5, count: count + 16)
        #expect(SecRandomCopyBytes(kSecRandomDefault, count, &bytes) == errSecSuccess)
        #expect(bytes[count...].allSatisfy { $0 == 0xA5 })
        let run = max(count - 32, 0)  // if these bytes were left out, the last would still be as they were
        #expect(count < 32 || bytes[run..<count].contains { $0 != 0xA5 })
    }

    @Test("Two draws differ")
    func draws() {
        var first = Data(count: 32)
        var second = Data(count: 32)
        for status in [fill(&first), fill(&second)] { #expect(status == errSecSuccess) }
        #expect(first != second)
    }

    @Test("A negative count and a source of another kind are refused, and nothing is written")
    func refusals() {
        var byte: UInt8 = 7
        #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &byte) == errSecParam)
        #expect(SecRandomCopyBytes(OpaquePointer(bitPattern: 8), 1, &byte) == errSecParam)
        #expect(byte == 7)
    }

    private func fill(_ data: inout Data) -> OSStatus {
        data.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, $0.count, $0.baseAddress!) }
    }
}
