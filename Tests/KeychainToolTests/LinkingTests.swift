import Foundation
import KeychainTestSupport
import Testing

/// How the programs that people install are linked.
@Suite struct LinkingTests {
    @Test(
        "The programs bind every function at their start, so that no later call has the registers saved on the stack",
        arguments: ["keychainctl", "keychaind"])
    func bindsAtStart(program: String) throws {
        #expect(try dynamicSection(of: program).contains("BIND_NOW"))
    }

    @Test("The helper of the tests binds functions when they are called, as other people's programs do")
    func helperBindsLate() throws {
        #expect(try !dynamicSection(of: "KeychainTestHelper").contains("BIND_NOW"))
    }

    /// As `readelf` shows it, which every Swift toolchain on Linux needs for its linker.
    private func dynamicSection(of program: String) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["readelf", "--dynamic", "--wide", BuiltProducts.url(of: program).path]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0 && text.contains("NEEDED"))
        return text
    }
}
