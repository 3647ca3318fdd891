import DataProtection
import Foundation
import Glibc
import KeychainFileModel
import KeychainTestSupport

/// Two programs change one protected file, each an operation at the same time, and are killed at random moments.
///
/// After each step the file must be what the two operations leave in one order or the other, and what they have read must
/// be what was there in that order. An operation that a kill cut short was made whole or not at all.
struct FileKills {
    private struct State {
        var content = SparseContent()
        var protection = FileProtection.completeUntilFirstUserAuthentication
    }

    /// One of the programs, and what it draws.
    private struct Program {
        let process: HelperProcess
        var source: OperationSource
        /// Whether it has removed what killed programs had left.
        var hasSwept = false
    }

    private let directory: URL
    private let url: URL
    private let files: ProtectedFiles
    /// false: writes are acknowledged and not made. The positive control.
    private let isHonest: Bool
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 << 20, alignment: 4096)
    private var random: SeededGenerator
    private var programs: [Program] = []
    private var state = State()
    private var (operations, kills, unanswered) = (0, 0, 0)

    init(in directory: URL, seed: UInt64, isHonest: Bool) throws {
        self.directory = directory
        url = FileWorker.file(in: directory)
        files = try FileWorker.files(in: directory, chunkBits: FileTurns.chunkBits)
        random = SeededGenerator(seed: seed)
        self.isHonest = isHonest
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try files.write(Data(), to: url, protection: state.protection)
    }

    /// - Returns: whether all is well.
    mutating func run(operations count: Int) throws -> Bool {
        let start = Date()
        for number in 0..<2 { programs.append(try begin(number)) }
        defer {
            for program in programs { program.process.kill() }
            memory.deallocate()
        }
        do {
            while operations < count {
                alarm(2 * FileTurns.patience)
                try step()
            }
        } catch {
            say("FAILED file-kills \(count) --seed \(random.seed), after \(operations) operations: \(error)")
            return false
        }
        say(
            "file-kills operations=\(operations) kills=\(kills) unanswered=\(unanswered) seed=\(random.seed) "
                + "seconds=\(Int(Date().timeIntervalSince(start)))")
        return true
    }

    private mutating func begin(_ number: Int) throws -> Program {
        let seed = random.next()
        let process = try HelperProcess(
            words: ["file-turns", directory.path, "\(number)", "--seed", "\(seed)"]
                + (isHonest ? [] : ["--not-durable"]))
        guard try process.readLine() == "begun" else { throw HelperFailure("a program does not begin") }
        return Program(process: process, source: OperationSource(seed: seed, chunkBits: FileTurns.chunkBits))
    }

    private mutating func step() throws {
        // What each does; nil: it closes the file, since one that is open would stay the former one.
        var turns: [FileOperation?] = programs.indices.map { programs[$0].source.nextUndisturbed() }
        for number in 0..<2 { if case .replace = turns[1 - number] { turns[number] = nil } }
        for (program, turn) in zip(programs, turns) { try program.process.write(turn == nil ? "leave" : "next") }
        // Every so often, and more often what takes several steps and is rarely drawn.
        let isKill = operations > 10 * kills || turns.contains(where: \.isRare) && random.below(4) == 0
        let victim = isKill ? random.below(2) : nil
        var answers: [String?] = [nil, nil]
        if let victim {
            usleep(UInt32(random.below(1 << random.below(12))))
            answers[victim] = try programs[victim].process.killAfter(bytes: 0).last
        }
        for number in 0..<2 where number != victim {
            answers[number] = try programs[number].process.readLine() ?? "it has ended by itself"
        }
        for answer in answers.compactMap(\.self) where !answer.hasPrefix("=") { throw HelperFailure(answer) }
        try find(turns, answers)
        operations += turns.count { $0 != nil }
        try lookForLeftovers(turns, answers)
        guard let victim else { return }
        kills += 1
        if answers[victim] == nil { unanswered += 1 }
        guard try files.check(url).isIntact else { throw HelperFailure("it is damaged after \(done(turns))") }
        programs[victim] = try begin(victim)
    }

    /// Finds out what was done, and in which order.
    private mutating func find(_ turns: [FileOperation?], _ answers: [String?]) throws {
        // What was done comes first: a large file is compared only where something was ever written.
        let possible = try [true, false].flatMap { isDone in
            try [[0, 1], [1, 0]].compactMap { try after(turns, answers, in: $0, isDone: isDone) }
        }
        let handle = try files.open(url)
        defer { handle.closeWithoutWaiting() }
        let protection = try handle.protection
        let found = try possible.first { try $0.protection == protection && handle.has($0.content, in: memory) }
        guard let found else {
            let (former, answers) = (state, answers.map { $0 ?? "nothing" })
            throw HelperFailure(
                "\(former.content.length) bytes, class \(former.protection), became \(try handle.length) bytes, class "
                    + "\(protection), as no order of \(done(turns)) leaves it that answered \(answers)")
        }
        state = found
    }

    /// What is there after both, in this order; nothing if one of them would have answered something else.
    ///
    /// - Parameter isDone: Whether the one was done that a kill left without an answer.
    private func after(
        _ turns: [FileOperation?], _ answers: [String?], in order: [Int], isDone: Bool
    ) throws -> State? {
        var state = state
        for number in order {
            guard let turn = turns[number] else { continue }
            switch (turn, answers[number]) {
            case (_, nil) where !isDone: continue
            case (.append, let place?) where place != "=\(state.content.length)": return nil
            case (.read(_, let offset, let count), _?):
                let bytes = try Data(contentsOf: FileTurns.reading(of: number, in: directory))
                let isThere = bytes.withUnsafeBytes { state.content.gives($0, at: offset, ofAtMost: count) }
                guard isThere else { return nil }
            case (.setProtection(_, let new), _), (.replace(_, let new, _), _): state.protection = new
            default: break
            }
            turn.apply(to: &state.content)
        }
        return state
    }

    /// A write that was cut short leaves nothing in clear, and the next whole one of another program nothing at all.
    private mutating func lookForLeftovers(_ turns: [FileOperation?], _ answers: [String?]) throws {
        let own = url.deletingLastPathComponent()
        for (number, turn) in turns.enumerated() {
            if answers[number] == nil, let data = turn?.data?.prefix(32), data.count == 32 {
                guard try TraceScanner(["content": data]).traces(below: own).isEmpty else {
                    throw HelperFailure("content is in clear after \(done(turns))")
                }
            } else if answers[number] != nil, case .replace = turn, !programs[number].hasSwept {
                programs[number].hasSwept = true
                let names = try FileManager.default.contentsOfDirectory(atPath: own.path)
                guard names == ["file"] else { throw HelperFailure("\(names) are there after \(done(turns))") }
            }
        }
    }
}

private func done(_ turns: [FileOperation?]) -> [FileOperation] { turns.compactMap(\.self) }

extension FileOperation? {
    fileprivate var isRare: Bool {
        switch self {
        case .replace, .setProtection: true
        default: false
        }
    }
}
