// Puts a daemon under load and kills it, and looks at what became of every acknowledged write.
//
//   KeychainDaemonProbe load KEYCHAIND [--clients N] [--calls N] [--kills N] [--seed N]
//       so many clients, in several processes, with so many mixed calls each; meanwhile other clients are killed in the
//       midst of theirs, one never reads, one sends a byte now and then, and some send nonsense
//   KeychainDaemonProbe kills KEYCHAIND ROUNDS [--seed N]
//       the daemon is killed with SIGKILL while clients write, and started anew, round after round
//   KeychainDaemonProbe work SOCKET THREADS CALLS SEED
//       a process of clients, as "load" starts it: prints the reports of their work as JSON
//
// Prints a line with what was done. Ends with 1 if anything was lost, done twice or answered wrongly.

import Foundation
import KeychainModel
import KeychainTestSupport
import Logging

@main
struct DaemonProbe {
    struct Failure: Error {
        var reason: String
    }

    static func main() {
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            exit(try run(arguments) ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("probe: \(error)\n".utf8))
            exit(2)
        }
    }

    /// - Returns: whether all is well.
    private static func run(_ arguments: Arguments) throws -> Bool {
        let words = arguments.words
        let seed = arguments.numbers["--seed"] ?? Int.random(in: 0..<1_000_000)
        switch (words.first, words.count) {
        case ("load", 2):
            let load = LoadRun(
                program: words[1], clients: arguments.numbers["--clients"] ?? 200,
                calls: arguments.numbers["--calls"] ?? 1_000, kills: arguments.numbers["--kills"] ?? 20, seed: seed)
            return try load.run()
        case ("kills", 3):
            guard let rounds = Int(words[2]) else { throw Failure(reason: "how many rounds?") }
            return try KillRounds(program: words[1], seed: seed).run(rounds: rounds)
        case ("work", 5):
            guard let threads = Int(words[2]), let calls = Int(words[3]), let seed = UInt64(words[4]) else {
                throw Failure(reason: "work SOCKET THREADS CALLS SEED")
            }
            let reports = ClientWork.run(at: words[1], threads: threads, calls: calls, seed: seed)
            FileHandle.standardOutput.write(try JSONEncoder().encode(reports))
            return true
        default:
            throw Failure(reason: "unknown command \(words); the top of DaemonProbe.swift says which there are")
        }
    }
}

/// Words, and options that each have a number.
struct Arguments {
    private(set) var words: [String] = []
    private(set) var numbers: [String: Int] = [:]

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                words.append(word)
                continue
            }
            guard let number = rest.popFirst().flatMap({ Int($0) }) else {
                throw DaemonProbe.Failure(reason: "\(word) wants a number")
            }
            numbers[word] = number
        }
    }
}

func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

extension Caller {
    static let probe = Caller(groups: ["G"])
}
