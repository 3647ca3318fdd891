import Dispatch
import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Synchronization
import Testing

/// Many processes and many threads on one store, each with calls of every kind.
@Suite struct ManyAtOnceTests {
    /// What a caller may be told, whatever the others do.
    private static let allowed: Set<Int32> = [0, -25299, -25300]

    @Test("Eight processes with hundreds of mixed calls each: no answer but the allowed ones, and nothing is lost")
    func processes() throws {
        try withTemporaryDirectory { directory in
            let calls = Effort.count(300, full: 2_000)
            let agents = try start(8, calls: calls, in: directory, locked: false)
            let reports = try agents.map { try report(of: $0) }
            try expectSound(reports, in: try Engine(.test(in: directory)))
            #expect(reports.allSatisfy { $0.count == calls })
        }
    }

    @Test("The same with a passcode, while the store is locked and unlocked all the time", .enabled(if: hasKeyring))
    func processesUnderLock() throws {
        try withKeychain(groups: ["G"]) { keychain in
            try keychain.setPasscode("1234")
            let calls = 1_000
            let agents = try start(4, calls: calls, in: keychain.directory, locked: true)
            // Nobody else locks, so while it is unlocked the one who locks meets no locked item.
            var work = MixedWork(keychain.engine, worker: "locker", seed: SeededGenerator().seed)
            var own = MixedWork.Report()
            var rounds = 0
            // What the others report is read when all have ended: it is shorter than what a pipe holds.
            while agents.contains(where: \.isRunning) {
                try keychain.lock()
                try keychain.unlock("1234")
                own = work.run(calls: 20)
                rounds += 1
            }
            let reports = try agents.map { try report(of: $0) }
            try expectSound(reports + [own], in: keychain.engine, mayBeLocked: true)
            #expect(reports.allSatisfy { $0.count == calls })
            #expect(rounds > 10 && own.count(of: -25308) == 0)
            #expect(reports.contains { $0.count(of: -25308) > 0 }, "nobody met a locked store")
        }
    }

    @Test("Processes that write large items without a pause do not keep another one from writing", arguments: [1, 3])
    func rightOfWay(hogs: Int) throws {
        try withKeychain(groups: ["G"]) { keychain in
            let agents = try (0..<hogs).map { _ in
                try AgentProcess("hog", keychain.directory.path, "\(2 << 20)")
            }
            defer { for agent in agents { agent.kill() } }
            for agent in agents { #expect(try agent.readLine() == "begun") }
            // Less patient than a real one, since the longest wait is what matters.
            var configuration = keychain.configuration
            configuration.busyTimeout = 1.5
            let engine = try Engine(configuration)
            for number in 0..<30 { try engine.add(.password("\(number)")) }
            #expect(agents.allSatisfy { $0.isRunning }, "nobody was in the way")
        }
    }

    @Test("Eight threads with five hundred mixed calls each, on one engine")
    func threads() throws {
        try withKeychain(groups: ["G"]) { keychain in
            let generator = SeededGenerator()
            let reports = onThreads(8) { number in
                var work = MixedWork(keychain.engine, worker: "w\(number)", seed: generator.seed &+ UInt64(number))
                return work.run(calls: 500)
            }
            try expectSound(reports, in: keychain.engine, "seed \(generator.seed)")
            #expect(reports.allSatisfy { $0.count == 500 })
        }
    }

    @Test(
        "A process killed in the midst of a transaction keeps nobody from writing, and has written nothing",
        // Six items of 16 MiB are more than the writer's cache holds: then uncommitted pages are in the log.
        arguments: [(size: 10, stalledAt: 3), (size: 16 << 20, stalledAt: 6)])
    func killedWriter(size: Int, stalledAt: Int) throws {
        try withKeychain(groups: ["G"]) { keychain in
            let engine = keychain.engine
            for number in 0..<6 {
                var request = AddRequest.password("\(number)", label: "before")
                request.secret = SecretBytes(copying: Data(repeating: UInt8(number), count: size))
                try engine.add(request)
            }
            engine.prepareForExit()
            let agent = try AgentProcess("stall", keychain.directory.path, "\(stalledAt)")
            #expect(try agent.readLine() == "stalled")
            try expectBusy(keychain)
            if size > 1 << 20 { #expect(try logSize(keychain) > 1 << 20, "nothing of the transaction is in the log") }
            agent.kill()
            try engine.add(.password("after"))
            for number in 0..<6 {
                let found = try engine.find(.password([.account: .text("\(number)")]))
                #expect(found.first?.attributes[.label] == .text("before"))
                #expect(found.first?.secret?.copyData() == Data(repeating: UInt8(number), count: size))
            }
            #expect(try engine.findings().isEmpty)
        }
    }
}

// MARK: - Workers

extension ManyAtOnceTests {
    private func start(_ count: Int, calls: Int, in directory: URL, locked: Bool) throws -> [AgentProcess] {
        let seed = SeededGenerator().seed
        return try (0..<count).map { number in
            try AgentProcess(
                "mixed", directory.path, "w\(number)", "\(seed &+ UInt64(number))", "\(calls)", locked ? "yes" : "no")
        }
    }

    private func report(of agent: AgentProcess) throws -> MixedWork.Report {
        let result = try agent.finish()
        try #require(result.status == 0)
        return try JSONDecoder().decode(MixedWork.Report.self, from: Data(result.lines.joined().utf8))
    }

    private func expectSound(
        _ reports: [MixedWork.Report], in engine: Engine, mayBeLocked: Bool = false, _ comment: String = ""
    ) throws {
        var owned = 0
        for report in reports {
            #expect(report.surprises.isEmpty, "\(comment)")
            let statuses = Set(report.statuses.values.flatMap(\.keys))
            #expect(statuses.isSubset(of: Self.allowed.union(mayBeLocked ? [-25308] : [])), "\(statuses)")
            // The calls would show nothing if most of them came to nothing.
            #expect(report.count(of: 0) > report.count / 20)
            for (account, secret) in report.own { #expect(try engine.secret(of: account) == secret) }
            owned += report.own.count
        }
        let all = try engine.find(.password(limit: .all))
        #expect(
            all.filter { !$0.isShared }.count == owned, "an item that was deleted is there, or one that was not is gone"
        )
        #expect(Set(all.compactMap { $0.attributes[.account] }).count == all.count)
        #expect(try engine.findings().isEmpty)
    }

    /// While one process writes, another one waits for it. The store of this test waits for a moment only.
    private func expectBusy(_ keychain: TestKeychain) throws {
        var configuration = keychain.configuration
        configuration.busyTimeout = 0.05
        let impatient = try Engine(configuration)
        let error = #expect(throws: KeychainError.self) { try impatient.add(.password("meanwhile")) }
        #expect(error?.code == .notAvailable)
        #expect(try impatient.find(.password([.account: .text("0")])).count == 1)
    }

    private func logSize(_ keychain: TestKeychain) throws -> Int {
        try Data(contentsOf: keychain.directory.appendingPathComponent("store/keychain.db-wal")).count
    }
}

extension Item {
    fileprivate var isShared: Bool {
        guard case .text(let account)? = attributes[.account] else { return false }
        return account.hasPrefix("shared-")
    }
}

/// What `body` returns on each of so many threads of their own, which all run at once.
func onThreads<R: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> R) -> [R] {
    let results = Results<R>()
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        let thread = Thread {
            results.append(body(number))
            group.leave()
        }
        thread.stackSize = 4 << 20
        thread.start()
    }
    group.wait()
    return results.all
}

private final class Results<R: Sendable>: Sendable {
    private let values = Mutex<[R]>([])
    func append(_ value: R) { values.withLock { $0.append(value) } }
    var all: [R] { values.withLock { $0 } }
}
