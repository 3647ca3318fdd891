import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainDaemon

@Suite("Consent of the owner")
struct ConsentTests {
    private let process = ConsentingProcess(pid: 4711, uid: 1001, start: 123_456_789)

    private func ask(_ polkit: FakePolkit, _ cancellation: Cancellation = Cancellation()) throws(KeychainError) {
        try PolkitConsent(busAddress: polkit.busAddress).ask(for: process, cancellation)
    }

    @Test("polkit is asked about the process by its number, its start and its user, and may ask the person")
    func question() throws {
        let polkit = try FakePolkit()
        try ask(polkit)
        // No details, which only root may give, and nothing to cancel it by: it ends with the connection.
        #expect(try polkit.question == "swift-keychain.own unix-process 4711 123456789 1001 1 0 ''")
    }

    @Test(
        "Each answer of polkit but a yes is an error of its own",
        arguments: [
            (FakePolkit.Answer.no, KeychainError.Code.authenticationFailed), (.dismissed, .userCancelled),
            (.nobody, .interactionNotAllowed), (.refuse, .missingEntitlement),
        ])
    func answers(answer: FakePolkit.Answer, code: KeychainError.Code) throws {
        let polkit = try FakePolkit()
        try polkit.answer(answer)
        let error = #expect(throws: KeychainError.self) { try ask(polkit) }
        #expect(error?.code == code)
    }

    @Test("Where there is no polkit, or no bus, nobody consents")
    func missing() throws {
        let polkit = try FakePolkit(isMissing: true)
        let error = #expect(throws: KeychainError.self) { try ask(polkit) }
        #expect(error?.code == .missingEntitlement)
        let other = #expect(throws: KeychainError.self) {
            try PolkitConsent(busAddress: "unix:path=/nonexistent").ask(for: process, Cancellation())
        }
        #expect(other?.code == .missingEntitlement)
    }

    @Test("A question that is cancelled ends, and polkit sees that nobody waits for the person")
    func cancellation() throws {
        let polkit = try FakePolkit()
        try polkit.answer(.never)
        let cancellation = Cancellation()
        Thread.detachNewThread {
            while (try? polkit.question) == "none" { usleep(5_000) }
            cancellation.cancel()
        }
        let error = #expect(throws: KeychainError.self) { try ask(polkit, cancellation) }
        #expect(error?.code == .userCancelled)
        try polkit.waitForLeave()
    }

    @Test("A person who never answers is not waited for without an end")
    func patience() throws {
        let polkit = try FakePolkit()
        try polkit.answer(.never)
        var consent = PolkitConsent(busAddress: polkit.busAddress)
        consent.personTime = .milliseconds(50)
        let error = #expect(throws: KeychainError.self) { try consent.ask(for: process, Cancellation()) }
        #expect(error?.message.contains("does not answer") == true)
    }

    @Test("A process is known by the ticks that the kernel has counted until its start")
    func start() throws {
        let stat = try String(contentsOfFile: "/proc/self/stat", encoding: .utf8)
        let fields = stat[stat.lastIndex(of: ")")!...].split(separator: " ")
        #expect(ConsentingProcess(pid: getpid(), uid: 7)?.start == UInt64(fields[20]))
        #expect(ConsentingProcess(pid: Int32.max, uid: 7) == nil)
    }
}
