import Foundation
import Glibc

/// Operations with faults, one run after the other.
enum FaultRuns {
    /// - Returns: whether all is well.
    static func run(_ operation: String, _ fault: String, _ arguments: Arguments) throws -> Bool {
        let operations = Operation.all.filter { ["all", $0.name].contains(operation) }
        let faults = Fault.allCases.filter { ["all", $0.rawValue].contains(fault) }
        guard !operations.isEmpty && !faults.isEmpty else {
            throw HelperFailure("no such operation or fault: \(operation) \(fault)")
        }
        let stride = max(1, arguments.numbers["--stride"] ?? 1)
        return try inOwnDirectory(keeps: arguments.keeps) { base in
            let driver = FaultDriver(base: base, isDurable: arguments.isDurable, keepsFailures: arguments.keeps)
            var isWell = true
            for operation in operations {
                for fault in faults {
                    let start = Date()
                    let summary = try driver.run(
                        operation, fault, stride: stride, step: arguments.numbers["--step"], seed: arguments.seed ?? 0)
                    for failure in summary.failures { say("FAILED \(failure)") }
                    say(
                        "operation=\(operation.name) fault=\(fault.rawValue) steps=\(summary.steps) "
                            + "run=\(summary.runs) of=\(summary.applicable) failed=\(summary.failures.count) "
                            + "seconds=\(String(format: "%.1f", Date().timeIntervalSince(start)))")
                    isWell = isWell && summary.failures.isEmpty
                }
            }
            return isWell
        }
    }

    /// In memory where there is such a place: it is not the real disk that is tried here.
    static func inOwnDirectory(keeps: Bool, _ body: (URL) throws -> Bool) throws -> Bool {
        let memory = "/dev/shm"
        let place = access(memory, W_OK) == 0 ? memory : NSTemporaryDirectory()
        let base = URL(fileURLWithPath: place).appendingPathComponent("keychain-faults-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: base, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { if !keeps { try? FileManager.default.removeItem(at: base) } }
        return try body(base)
    }
}
