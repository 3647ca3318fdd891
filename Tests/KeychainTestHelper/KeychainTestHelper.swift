// The second process of the tests, and what Scripts/torture runs. The first word says what it does.
//
//   agent WORK DIR …        works on a store that several processes use (Agent/Agent.swift)
//   prompt WHO WHAT …       asks a person (Prompt/PromptAgent.swift)
//   faults OPERATION|all FAULT|all [options]
//       does to a store what disks, power cuts and kills do, and looks at what is left of it
//       --stride N        every so many-th of the steps to which the fault applies
//       --step N          this step alone
//       --seed N          for what is drawn by lot
//       --not-durable     nothing is ever synced: acknowledged writes must be reported lost
//       --keep            leaves the stores of failed cases, and says where they are
//   operations              the operations of "faults"
//   kills ROUNDS [--seed N] [--not-durable]
//       several writers on one store, killed at random moments, round after round; with --not-durable they acknowledge
//       what they only begin
//   files [--operations N] [--seed N]
//       random operations on protected files that are open, compared with a model
//   file-worker DIR fill|read|count|append|fork NUMBER COUNT
//       one program of several that work on one file (Files/FileWorker.swift)
//   file-kills OPERATIONS [--seed N] [--not-durable]
//       random operations of two programs on one protected file, which are killed at random moments; with --not-durable
//       they acknowledge writes that they do not make
//   file-turns DIR NUMBER --seed N [--not-durable]
//       one of these two (Files/FileTurns.swift)
//   load KEYCHAIND [--clients N] [--calls N] [--kills N] [--seed N]
//       so many clients, in several processes, with so many mixed calls each; meanwhile other clients are killed in the
//       midst of theirs, one never reads, one sends a byte now and then, and some send nonsense
//   daemon-kills KEYCHAIND ROUNDS [--seed N]
//       the daemon is killed with SIGKILL while clients write, and started anew, round after round
//   hostile KEYCHAIND slow|announce|pad|sip|large|bomb|all [--clients N] [--calls N] [--seconds N]
//       how soon the daemon answers one process while a hundred others take all they can get, and how large it grows
//   hostile-client SOCKET KIND CONNECTIONS
//       one of these others
//   clients SOCKET THREADS CALLS SEED
//       a process of clients, as "load" starts it: prints the reports of their work as JSON
//   wire
//       reads messages and writes them anew, for another implementation to compare (Wire/WireEcho.swift)
//   (KEYCHAIN_TEST_SURROUNDINGS, without words)
//       works with a keychain, whatever the limits and descriptors it was started with (Agent/Surroundings.swift)
//   bundle                  the identifier of its bundle, as Foundation finds it
//
// Prints a line for each thing that was done, and one for each failure. Ends with 1 if there was any failure, and with 2
// and a message if the work could not be done.

import Foundation
import KeychainTestSupport
import Logging

@main
enum KeychainTestHelper {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if let place = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SURROUNDINGS"] {
            Surroundings.work(at: place)
        }
        do {
            switch words.first {
            case "agent": try Agent.run(Array(words.dropFirst()))
            case "hostile-client": try HostileClient.run(Array(words.dropFirst()))
            case "wire": try WireEcho.run()
            case "bundle": say(Bundle.main.bundleIdentifier ?? "none")
            case "prompt": try PromptAgent.run(Array(words.dropFirst()))
            default: exit(try isWell(Arguments(words)) ? 0 : 1)
            }
        } catch {
            complain(error)
            exit(2)
        }
    }

    private static func isWell(_ arguments: Arguments) throws -> Bool {
        // Engines warn of what they are given here, thousands of times.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let words = arguments.words
        let seed = arguments.seed ?? SeededGenerator().seed
        switch (words.first, words.count) {
        case ("operations", 1):
            for operation in Operation.all { say(operation.name) }
            return true
        case ("faults", 3):
            return try FaultRuns.run(words[1], words[2], arguments)
        case ("kills", 2):
            return try FaultRuns.inOwnDirectory(keeps: false) { base in
                try KillLoop(base: base, seed: seed, isHonest: arguments.isDurable)
                    .run(rounds: try Arguments.number(words[1]))
            }
        case ("files", 1):
            return try FileRuns.run(operations: arguments.numbers["--operations"] ?? 10_000_000, seed: seed)
        case ("file-worker", 5):
            try FileWorker.run(words[2], in: words[1], try Arguments.number(words[3]), try Arguments.number(words[4]))
            return true
        case ("file-kills", 2):
            return try withKeychain { keychain in
                var kills = try FileKills(in: keychain.directory, seed: seed, isHonest: arguments.isDurable)
                return try kills.run(operations: try Arguments.number(words[1]))
            }
        case ("file-turns", 3):
            var turns = try FileTurns(
                URL(fileURLWithPath: words[1]), number: try Arguments.number(words[2]), seed: seed,
                isHonest: arguments.isDurable)
            turns.run()
            return true
        case ("load", 2):
            return try LoadRun(
                program: words[1], clients: arguments.numbers["--clients"] ?? 200,
                calls: arguments.numbers["--calls"] ?? 1_000, kills: arguments.numbers["--kills"] ?? 20, seed: seed
            ).run()
        case ("hostile", 3):
            let kinds =
                words[2] == "all" ? HostileClient.allCases : HostileClient(rawValue: words[2]).map { [$0] } ?? []
            if kinds.isEmpty { throw HelperFailure("there is no hostile client \(words[2])") }
            return try kinds.allSatisfy { kind in
                try HostileRun(
                    program: words[1], kind: kind, processes: arguments.numbers["--clients"] ?? 100,
                    seconds: arguments.numbers["--seconds"] ?? 0, calls: arguments.numbers["--calls"] ?? 30
                ).run()
            }
        case ("daemon-kills", 3):
            return try KillRounds(program: words[1], seed: seed).run(rounds: try Arguments.number(words[2]))
        case ("clients", 5):
            let reports = ClientWork.run(
                at: words[1], threads: try Arguments.number(words[2]), calls: try Arguments.number(words[3]),
                seed: try Arguments.number(words[4]))
            FileHandle.standardOutput.write(try JSONEncoder().encode(reports))
            return true
        default:
            throw HelperFailure("unknown words \(words); the top of KeychainTestHelper.swift says which there are")
        }
    }
}
