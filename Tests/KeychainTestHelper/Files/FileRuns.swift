import Foundation
import KeychainFileModel
import KeychainTestSupport

/// Random operations on protected files, compared with a model.
enum FileRuns {
    /// - Returns: whether all is well.
    static func run(operations: Int, seed: UInt64) throws -> Bool {
        let start = Date()
        return try withKeychain(groups: ["G"]) { keychain throws in
            try keychain.setPasscode("1234")
            let directory = keychain.directory.appendingPathComponent("files")
            var run = FileModelRun(keychain, passcode: "1234", in: directory)
            var next = 0
            do {
                try run.run(operations: operations, seed: seed) { done in
                    guard done >= next else { return }
                    next += max(1, operations / 20)
                    say("done=\(done) seconds=\(Int(Date().timeIntervalSince(start)))")
                }
            } catch {
                say("FAILED \(error)")
                return false
            }
            let counts = run.counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            say(
                "files operations=\(operations) seed=\(seed) seconds=\(Int(Date().timeIntervalSince(start))) "
                    + counts.joined(separator: " "))
            return true
        }
    }
}
