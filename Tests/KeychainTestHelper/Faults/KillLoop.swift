import Foundation
import Glibc
import KeychainEngine
import KeychainModel
import KeychainTestSupport

/// Several processes write to one store and are killed at random moments, round after round. After each round every
/// effect that was acknowledged must be there, and of what was not at most the last of each process.
final class KillLoop {
    private static let writers = 3

    private let directory: URL
    private let seed: UInt64
    private var random: SeededGenerator
    private let shared = ForkedWork()
    /// What the store must have: account to secret.
    private var expected: [String: String] = [:]
    private var passcode: String?
    private var idleLimit: Int?
    /// Without a keyring every process would have to be told each new passcode.
    private var usesKeyring = false
    private var acknowledged = 0
    private var refused = 0
    private var passcodes = 0
    /// false: writers acknowledge what they do not do, and kill themselves. The positive control.
    private let isHonest: Bool

    init(base: URL, seed: UInt64, isHonest: Bool) {
        self.isHonest = isHonest
        directory = base.appendingPathComponent("kills")
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    func run(rounds: Int) throws -> Bool {
        try prepare()
        say(
            "seed=\(seed) writers=\(Self.writers) passcode=\(usesKeyring ? "changed meanwhile" : "none, for want of a keyring")"
        )
        let start = Date()
        var problems: [String] = []
        var round = 0
        while round < rounds && problems.isEmpty {
            round += 1
            problems = try oneRound(round)
        }
        try takeKeysBack()
        for problem in problems {
            say("FAILED kills \(rounds) --seed \(seed), in round \(round): \(problem)")
        }
        say(
            "kills rounds=\(round) acknowledged=\(acknowledged) passcodes=\(passcodes) refused=\(refused) failed=\(problems.count) "
                + "seconds=\(String(format: "%.1f", Date().timeIntervalSince(start)))")
        return problems.isEmpty
    }

    private func prepare() throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let directory = directory
        let ending = shared.run { shared in
            let engine = try Engine(.probe(in: directory, usesKeyring: true))
            let hasKeyring = try engine.lockStatus().keyPlace == .keyring
            if hasKeyring { try engine.setPasscode("code 0") }
            try shared.leave([hasKeyring])
        }
        guard ending == .finished, let answer = try shared.result([Bool].self) else {
            throw HelperFailure("the store was not made: \(ending)")
        }
        usesKeyring = answer == [true]
        passcode = usesKeyring ? "code 0" : nil
    }

    private func takeKeysBack() throws {
        let configuration = EngineConfiguration.probe(in: directory, usesKeyring: usesKeyring)
        let ending = shared.run { _ in try Engine(configuration).withdrawKeys() }
        guard ending == .finished else { throw HelperFailure("keys were left in the keyring: \(ending)") }
    }

    // MARK: A round

    /// A process at work, and the pipe on which it says what it does.
    private struct Worker {
        let child: pid_t
        let journal: FileHandle
        let end: Date
    }

    private func oneRound(_ round: Int) throws -> [String] {
        var workers: [Worker] = []
        for index in 0..<Self.writers {
            let seed = random.next()
            workers.append(
                try start { journal in
                    try self.write(journal, named: "w\(index)", round, SeededGenerator(seed: seed))
                })
        }
        if usesKeyring {
            let seed = random.next()
            workers.append(try start { journal in try self.changePasscodes(journal, SeededGenerator(seed: seed)) })
        }
        var problems: [String] = []
        for worker in workers.sorted(by: { $0.end < $1.end }) {
            if isHonest {
                usleep(UInt32(max(0, worker.end.timeIntervalSinceNow) * 1e6))
                kill(worker.child, SIGKILL)
            }
            if ForkedWork.wait(for: worker.child) != .killed { problems.append("a writer ended by itself") }
        }
        var pending: [Effect] = []
        for worker in workers {
            let lines = String(decoding: try worker.journal.readToEnd() ?? Data(), as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
            if let open = try take(lines, &problems) { pending.append(open) }
        }
        return problems + (try look(pending))
    }

    private func start(_ body: (Journal) throws -> Void) throws -> Worker {
        let pipe = Pipe()
        let output = pipe.fileHandleForWriting.fileDescriptor
        let journal = Journal(file: output, isHonest: isHonest)
        let child = ForkedWork().start { _ in try body(journal) }
        try pipe.fileHandleForWriting.close()
        let length = Double(random.next() % 140 + 20) / 1000
        return Worker(child: child, journal: pipe.fileHandleForReading, end: Date().addingTimeInterval(length))
    }

    /// Takes what a process acknowledged for granted.
    ///
    /// - Returns: what it had begun.
    private func take(_ lines: [String], _ problems: inout [String]) throws -> Effect? {
        var open: Effect?
        for line in lines {
            switch line.first {
            case "=":
                if let open { apply(open) }
                acknowledged += 1
                open = nil
            case "!":
                // Refused, so it did not happen.
                refused += 1
                open = nil
            case "?":
                problems.append(line)
            default:
                open = try JSONDecoder().decode(Effect.self, from: Data(line.utf8))
            }
        }
        return open
    }

    private func apply(_ effect: Effect) {
        switch effect {
        case .set(let account, let secret): expected[account] = secret
        case .remove(let account): expected[account] = nil
        case .passcode(let code):
            passcode = code
            passcodes += 1
        case .idleLimit(let limit): idleLimit = limit
        }
    }

    // MARK: Looking

    private func look(_ pending: [Effect]) throws -> [String] {
        var candidates = [passcode].compactMap(\.self)
        for case .passcode(let code) in pending { candidates.append(code) }
        let (directory, usesKeyring) = (directory, usesKeyring)
        let ending = shared.run { shared in
            do {
                try shared.leave([Inspection(of: directory, passcodes: candidates, usesKeyring: usesKeyring)])
            } catch let error as KeychainError {
                try shared.leave(["the store was refused: \(error)"])
            }
        }
        guard ending == .finished else { return ["the inspection failed: \(ending)"] }
        guard let inspection = try? shared.result([Inspection].self)?.first else {
            return try shared.result([String].self) ?? ["nothing was found"]
        }
        settle(pending, inspection.observation)
        var problems = inspection.problems
        let due = Set(expected.map { Self.line($0.key, $0.value) })
        let found = Set(inspection.observation.items)
        if found != due {
            problems.append(
                "missing: \(due.subtracting(found).sorted()), not acknowledged: \(found.subtracting(due).sorted())")
        }
        if inspection.observation.passcode != passcode { problems.append("another passcode opens it") }
        if inspection.observation.idleLimit != idleLimit { problems.append("another policy") }
        return problems
    }

    /// What had begun may have happened: then it must go on being so.
    private func settle(_ pending: [Effect], _ seen: Observation) {
        let items = Set(seen.items)
        for effect in pending {
            let hasHappened =
                switch effect {
                case .set(let account, let secret): items.contains(Self.line(account, secret))
                case .remove(let account): expected[account].map { !items.contains(Self.line(account, $0)) } ?? true
                case .passcode(let code): seen.passcode == code
                case .idleLimit(let limit): seen.idleLimit == limit
                }
            if hasHappened { apply(effect) }
        }
    }

    private static func line(_ account: String, _ secret: String) -> String {
        Item.line(
            .genericPassword, protection: .whenUnlocked,
            attributes: [.account: .text(account), .service: .text("probe")], group: "keychain",
            secret: Data(secret.utf8))
    }

    // MARK: What the processes do

    private func write(_ journal: Journal, named name: String, _ round: Int, _ random: SeededGenerator) throws {
        var random = random
        var own = expected
        let engine = try Engine(.probe(in: directory, usesKeyring: usesKeyring))
        for number in 0... {
            let account = "\(name)-\(random.next() % 12)"
            let value = "\(round).\(number) " + String(repeating: "x", count: Int(random.next() % 3000))
            let effect: Effect = own[account] != nil && random.next() % 3 == 0 ? .remove(account) : .set(account, value)
            try journal.record(effect) {
                switch effect {
                case .remove: try engine.delete(account)
                default: try engine.put(account, value, isNew: own[account] == nil)
                }
                own[account] = effect == .remove(account) ? nil : value
            }
        }
    }

    private func changePasscodes(_ journal: Journal, _ random: SeededGenerator) throws {
        var random = random
        guard var code = passcode else { return }
        let engine = try Engine(.probe(in: directory, usesKeyring: true))
        while true {
            let next = "code \(random.next() % 1000)"
            let limit = Int(random.next() % 1000) + 3600
            if random.next() % 4 == 0 {
                let policy = PasscodePolicy(idleLimit: limit)
                try journal.record(.idleLimit(limit)) {
                    _ = try engine.handle(.passcode(.setPolicy(policy, passcode: .of(code))), from: .owner)
                }
            } else {
                let change = PasscodeRequest.change(old: .of(code), new: .of(next), rekey: random.next() % 2 == 0)
                var reply = Reply.done
                try journal.record(.passcode(next)) { reply = try engine.handle(.passcode(change), from: .owner) }
                code = next
                try engine.finishRekey(after: reply)
            }
        }
    }
}

extension Engine {
    fileprivate func put(_ account: String, _ secret: String, isNew: Bool) throws {
        if isNew { return try add(account, secret: secret) }
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text(account), .service: .text("probe")]
        var changes = ItemChanges()
        changes.secret = .of(secret)
        _ = try handle(.update(UpdateRequest(query, changes: changes)), from: .owner)
    }
}

/// What a process is about to do.
private enum Effect: Codable, Equatable {
    case set(String, String)
    case remove(String)
    case passcode(String)
    case idleLimit(Int)
}

/// Where a process says what it does before it does it, and when it was acknowledged.
private struct Journal {
    let file: Int32
    let isHonest: Bool

    func record(_ effect: Effect, _ body: () throws -> Void) throws {
        line(String(decoding: try JSONEncoder().encode(effect), as: UTF8.self))
        do {
            if !isHonest {
                line("=")
                kill(getpid(), SIGKILL)
            }
            try body()
            line("=")
        } catch let error as KeychainError where error.code == .interactionNotAllowed {
            // The keys were being renewed, or the inspection has not unlocked yet.
            line("!")
            usleep(1000)
        } catch {
            line("? \(error)")
            throw error
        }
    }

    private func line(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        precondition(write(file, bytes, bytes.count) == bytes.count, "the journal is not taken")
    }
}
