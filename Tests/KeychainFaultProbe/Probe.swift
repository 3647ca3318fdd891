// Does to a store what disks, power cuts and kills do, and looks at what is left of it.
//
//   KeychainFaultProbe faults OPERATION|all FAULT|all [options]
//       --stride N        every so many-th of the steps to which the fault applies
//       --step N          this step alone
//       --seed N          for what is drawn by lot
//       --not-durable     nothing is ever synced: acknowledged writes must be reported lost
//       --keep            leaves the stores of failed cases, and says where they are
//   KeychainFaultProbe kills ROUNDS [--seed N] [--not-durable]
//       several writers on one store, killed at random moments, round after round; with --not-durable they acknowledge
//       what they only begin
//   KeychainFaultProbe files [--operations N] [--seed N]
//       random operations on protected files that are open, compared with a model
//   KeychainFaultProbe file-worker DIR fill|read|count|append|acknowledge|fork NUMBER COUNT
//       one program of several that work on one file (FileWorker)
//   KeychainFaultProbe list             the operations
//
// Prints a line for each operation and fault, and one for each failure. Ends with 1 if there was any.

import Foundation
import Logging

@main
struct Probe {
    static func main() {
        // Engines warn of what they are given here, thousands of times.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        do {
            exit(try run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("probe: \(error)\n".utf8))
            exit(2)
        }
    }

    /// - Returns: whether all is well.
    private static func run(_ arguments: [String]) throws -> Bool {
        let options = try Options(arguments)
        switch (options.words.first, options.words.count) {
        case ("list", 1):
            for operation in Operation.all { say(operation.name) }
            return true
        case ("faults", 3):
            return try faults(options)
        case ("kills", 2):
            guard let rounds = Int(options.words[1]) else { throw FaultDriver.Failure(reason: "how many rounds?") }
            return try inOwnDirectory(keeps: false) { base in
                let seed = options.seed ?? UInt64.random(in: 0..<1_000_000)
                return try KillLoop(base: base, seed: seed, isHonest: options.isDurable).run(rounds: rounds)
            }
        case ("files", 1):
            return try FileRuns.run(
                operations: options.operations, seed: options.seed ?? UInt64.random(in: 0..<1_000_000))
        case ("file-worker", 5):
            guard let work = FileWorker.Work(rawValue: options.words[2]), let number = Int(options.words[3]),
                let count = Int(options.words[4])
            else { throw FaultDriver.Failure(reason: "unknown work \(arguments)") }
            let directory = URL(fileURLWithPath: options.words[1])
            try FileWorker(directory, number: number, count: count, forReading: work == .read).run(work)
            return true
        default:
            throw FaultDriver.Failure(
                reason: "unknown command \(arguments); the top of Probe.swift says which there are")
        }
    }

    private static func faults(_ options: Options) throws -> Bool {
        let operations = Operation.all.filter { ["all", $0.name].contains(options.words[1]) }
        let faults = Fault.allCases.filter { ["all", $0.rawValue].contains(options.words[2]) }
        guard !operations.isEmpty && !faults.isEmpty else {
            throw FaultDriver.Failure(reason: "no such operation or fault: \(options.words)")
        }
        return try inOwnDirectory(keeps: options.keeps) { base in
            let driver = FaultDriver(base: base, isDurable: options.isDurable, keepsFailures: options.keeps)
            var isWell = true
            for operation in operations {
                for fault in faults {
                    let start = Date()
                    let summary = try driver.run(
                        operation, fault, stride: options.stride, step: options.step, seed: options.seed ?? 0)
                    for failure in summary.failures { say("FAILED KeychainFaultProbe \(failure)") }
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
    private static func inOwnDirectory(keeps: Bool, _ body: (URL) throws -> Bool) throws -> Bool {
        let memory = "/dev/shm"
        let place = access(memory, W_OK) == 0 ? memory : NSTemporaryDirectory()
        let base = URL(fileURLWithPath: place).appendingPathComponent("keychain-faults-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: base, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { if !keeps { try? FileManager.default.removeItem(at: base) } }
        return try body(base)
    }
}

/// Prints a line at once: a buffer would be copied into every child.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

private struct Options {
    var words: [String] = []
    var stride = 1
    var step: Int?
    var seed: UInt64?
    var operations = 10_000_000
    var isDurable = true
    var keeps = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            func number<N: FixedWidthInteger>() throws -> N {
                guard let number = rest.popFirst().flatMap({ N($0) }), number >= 0 else {
                    throw FaultDriver.Failure(reason: "\(argument) needs a number")
                }
                return number
            }
            switch argument {
            case "--stride": stride = max(1, try number())
            case "--step": step = try number()
            case "--seed": seed = try number()
            case "--operations": operations = try number()
            case "--not-durable": isDurable = false
            case "--keep": keeps = true
            default: words.append(argument)
            }
        }
    }
}
