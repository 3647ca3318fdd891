import DataProtection
import DataProtectionCore
import Foundation
import KeychainFileModel
import KeychainTestSupport
import Testing

/// Random operations on a file that is open, compared with an array; among them locks, kills, a full disk and power cuts.
///
/// A failure tells the seed and the shortest sequence that shows it; `KEYCHAIN_TEST_SEED` repeats the run, and
/// `Scripts/torture files` makes longer ones.
@Suite struct FileModelTests {
    private func withRun(_ body: (inout FileModelRun) throws -> Void) throws {
        try withProtectedFiles { _, directory, keychain throws in
            try keychain.setPasscode("1234")
            var run = FileModelRun(keychain, passcode: "1234", in: directory)
            try body(&run)
        }
    }

    /// Each with a keychain of its own, at the same time.
    @Test(
        "A file is what an array would be, after any operations, kills, full disks and power cuts",
        arguments: 0..<2 as Range<UInt64>)
    func randomOperations(part: UInt64) throws {
        try withRun { run throws in
            try run.run(operations: Effort.count(5_000, full: 50_000), seed: SeededGenerator().seed &+ part << 32)
            for kind in ["write", "sync", "powerCut", "kill", "full", "lock", "setProtection", "replace", "punch"] {
                #expect(run.counts[kind, default: 0] > 10, "\(kind) was hardly tried")
            }
        }
    }
}
