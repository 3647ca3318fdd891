import Foundation
import KeychainTestSupport
import Testing

/// A real daemon under load, and killed, by the executable KeychainTestHelper. `Scripts/torture daemon` does it at
/// length.
@Suite(.serialized) struct ProbeTests {
    private func probe(_ words: String...) throws -> (text: String, status: Int32) {
        let (lines, status) = try HelperProcess(words: words).finish()
        return (lines.joined(separator: "\n"), status)
    }

    @Test("Under many clients, some of them hostile or killed, every answer is right and nothing acknowledged is lost")
    func load() throws {
        let (text, status) = try probe(
            "load", DaemonProcess.executable.path, "--clients", "40", "--calls", "100", "--kills", "3")
        #expect(status == 0, "\(text)")
        #expect(text.contains("load clients=40 calls=4000 killed=3"), "\(text)")
    }

    @Test(
        "While others take all they can get, every call of one process is answered, and the daemon stays small",
        arguments: ["slow", "announce", "pad", "sip", "large", "bomb", "amplify"])
    func hostile(kind: String) throws {
        // Begun four seconds before.
        let seconds = "\(Effort.count(4, full: 60))"
        let (text, status) = try probe(
            "hostile", DaemonProcess.executable.path, kind, "--clients", "10", "--calls", "3", "--seconds", seconds)
        #expect(status == 0, "\(text)")
        #expect(text.contains("kind=\(kind) peak=") && text.contains("failed=0"), "\(text)")
    }

    @Test("A daemon that is killed again and again loses nothing acknowledged, and nothing is done twice")
    func kills() throws {
        let (text, status) = try probe("daemon-kills", DaemonProcess.executable.path, "10")
        #expect(status == 0, "\(text)")
        #expect(text.contains("kills rounds=10") && text.contains("failed=0"), "\(text)")
    }
}
