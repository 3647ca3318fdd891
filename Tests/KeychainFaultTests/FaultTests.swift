import Foundation
import KeychainTestSupport
import Testing

/// Disks that fail, power cuts and kills, at every step of everything that writes. `docs/reliability.md` says what is
/// simulated.
@Suite struct FaultTests {
    /// An operation, and which share of its steps is tried.
    struct Share: Sendable, CustomTestStringConvertible {
        let operation: String
        let stride: Int

        var testDescription: String { operation }

        static let all = shares([
            7: ["add", "checkpoint", "passcode-change", "policy", "wrong-passcode", "unlock", "lock"],
            29: [
                "update", "delete", "transaction", "expire", "recover", "upgrade", "upgrade-after-crash",
                "passcode-remove",
                "resume-creation",
            ],
            53: ["update-many", "delete-many", "create", "resume-renewal"],
            101: ["first-passcode", "rekey"],
        ])

        private static func shares(_ table: [Int: [String]]) -> [Share] {
            table.sorted { $0.key < $1.key }
                .flatMap { entry in entry.value.map { Share(operation: $0, stride: Effort.stride(entry.key)) } }
        }
    }

    @Test(
        "Whatever fails at whichever step, a store is as before or as after, and what was acknowledged stays",
        arguments: Share.all)
    func faults(share: Share) throws {
        let outcome = try FaultProbe.run("faults", share.operation, "all", "--stride", "\(share.stride)")
        print(
            "\(share.operation): \(outcome.sum("run")) of \(outcome.sum("of")) faults, \(outcome.sum("failed")) failed")
        #expect(outcome.status == 0, "\(outcome.failures.prefix(5).joined(separator: "\n"))")
        #expect(outcome.sum("run") >= outcome.sum("of") / share.stride && outcome.sum("of") > 0)
    }

    @Test("No operation of the probe is left out")
    func complete() throws {
        #expect(try Set(FaultProbe.run("operations").lines) == Set(Share.all.map(\.operation)))
    }

    @Test(
        "Where nothing is synced, a power cut loses what was acknowledged, and the probe says so",
        arguments: [("add", "power"), ("add", "power-subset"), ("passcode-change", "power"), ("create", "power")])
    func positiveControl(operation: String, fault: String) throws {
        let outcome = try FaultProbe.run("faults", operation, fault, "--stride", "2", "--not-durable")
        #expect(outcome.status == 1)
        #expect(outcome.failures.contains { $0.contains("what was acknowledged is lost") })
    }

    @Test("Writers that are killed again and again lose nothing that was acknowledged")
    func kills() throws {
        let rounds = Effort.count(25, full: 1000)
        let outcome = try FaultProbe.run("kills", "\(rounds)")
        print(outcome.lines.joined(separator: "\n"))
        #expect(outcome.status == 0, "\(outcome.failures.joined(separator: "\n"))")
        #expect(outcome.sum("rounds") == rounds && outcome.sum("acknowledged") > rounds)
    }

    @Test("Writers that acknowledge what they did not do are found out")
    func killsControl() throws {
        let outcome = try FaultProbe.run("kills", "1", "--not-durable", "--seed", "1")
        #expect(outcome.status == 1)
        #expect(outcome.failures.contains { $0.contains("missing") || $0.contains("not acknowledged") })
    }

    @Test("Two programs that change one file at once, and are killed again and again, lose nothing and leave nothing")
    func fileKills() throws {
        let operations = Effort.count(800, full: 20_000)
        let outcome = try FaultProbe.run("file-kills", "\(operations)")
        print(outcome.lines.joined(separator: "\n"))
        #expect(outcome.status == 0, "\(outcome.failures.joined(separator: "\n"))")
        #expect(outcome.sum("operations") >= operations && outcome.sum("kills") > operations / 15)
    }

    @Test("Programs that acknowledge writes to a file that they do not make are found out")
    func fileKillsControl() throws {
        let outcome = try FaultProbe.run("file-kills", "200", "--not-durable", "--seed", "1")
        #expect(outcome.status == 1)
        #expect(outcome.failures.contains { $0.contains("as no order of") })
    }
}
