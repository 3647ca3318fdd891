import Testing

@testable import KeychainPrompt

@Suite struct AssuanTextTests {
    @Test("No text ends a line of the protocol, or begins a sequence of a terminal")
    func controls() {
        for value in Array(0..<0x20) + [0x7f] as [UInt8] {
            let digits = String(value, radix: 16, uppercase: true)
            let escaped = AssuanText.escape("a\(Unicode.Scalar(value))b")
            #expect(escaped == "a%\(value < 0x10 ? "0" : "")\(digits)b")
        }
    }

    @Test("A percent sign stands for itself, and every other character too")
    func others() {
        #expect(AssuanText.escape("100% of %0A, é 🔑") == "100%25 of %250A, é 🔑")
    }
}
