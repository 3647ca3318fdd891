// A second process for the tests of a store that several processes use.
//
//   KeychainTestAgent add DIR NAME COUNT    adds items NAME-0, NAME-1, …; prints each number once it is stored
//   KeychainTestAgent open DIR              opens the store, making it if need be, and prints its id
//   KeychainTestAgent fork DIR              adds an item, forks, and prints the status that an add in the child gets
//
// Ends with 1 and a message if anything fails.

import CKeychainTestSupport
import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport

@main
struct Agent {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("agent: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        guard arguments.count >= 2 else { throw KeychainError(.parameter, message: "a command and a directory") }
        let engine = try Engine(.test(in: URL(fileURLWithPath: arguments[1]), clock: SystemClock()))
        switch (arguments[0], arguments.count) {
        case ("open", 2):
            guard case .status(let status) = try engine.handle(.status, from: Caller(groups: ["G"])) else { return }
            report(status.storeID.uuidString)
        case ("fork", 2):
            try fork(engine)
        case ("add", 4):
            try add(Int(arguments[3]) ?? 0, named: arguments[2], to: engine)
        default:
            throw KeychainError(.parameter, message: "unknown command \(arguments)")
        }
    }

    private static func fork(_ engine: Engine) throws {
        try add(1, named: "parent", to: engine)
        let child = ckeychain_test_fork()
        if child == 0 {
            do {
                try add(1, named: "child", to: engine)
                _exit(0)
            } catch {
                // Only a code in eight bits comes through: whether it is the one that is expected.
                _exit((error as? KeychainError)?.code == .notAvailable ? 7 : 1)
            }
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        report("\(status >> 8)")
    }

    private static func add(_ count: Int, named name: String, to engine: Engine) throws {
        for number in 0..<count {
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .text("\(name)-\(number)")]
            request.secret = SecretBytes(copying: Data("secret of \(name)-\(number)".utf8))
            _ = try engine.handle(.add(request), from: Caller(groups: ["G"]))
            report("\(number)")
        }
    }

    /// Written at once, not when a buffer is full: the reader takes every line for a promise.
    private static func report(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
