import CKeychainSQLite
import Dispatch
import Foundation
import KeychainModel
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainEngine

/// Writes of several threads in one transaction.
@Suite struct GroupCommitTests {
    /// An engine on whose store no transaction is too old for one more write.
    private func withEngine<R>(
        longest: Duration = .seconds(60), _ body: (Engine, CommitObserver) throws -> R
    ) throws -> R {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.longestSharedTransaction = longest
            let engine = try Engine(configuration)
            // The home and everything else that a first item makes.
            try engine.add(.password("first"))
            let commits = try engine.observeCommits()
            return try withExtendedLifetime(commits) { try body(engine, commits) }
        }
    }

    @Test("Writes that come while one is under way share its transaction, and each gets its own answer")
    func sharing() throws {
        try withEngine { engine, commits in
            let answers = try engine.atOnce(20) { number throws(KeychainError) in
                try engine.add(.password("\(number)", secret: "secret \(number)"))
            }
            #expect(commits.count == 1)
            for (number, answer) in answers.enumerated() {
                let item = try answer.get()
                #expect(item.attributes[.account] == .text("\(number)"))
                #expect(try engine.secret(of: "\(number)") == "secret \(number)")
            }
        }
    }

    @Test("A lone write has a transaction of its own")
    func alone() throws {
        try withEngine { engine, commits in
            for number in 0..<5 { try engine.add(.password("\(number)")) }
            #expect(commits.count == 5)
        }
    }

    @Test("No more than 64 writes share a transaction")
    func mostWrites() throws {
        try withEngine { engine, commits in
            let answers = try engine.atOnce(150) { number throws(KeychainError) in
                try engine.add(.password("\(number)"))
            }
            #expect(answers.allSatisfy { (try? $0.get()) != nil })
            // With the one that keeps the others waiting: 64, 64 and the rest.
            #expect(commits.count == 3)
        }
    }

    @Test("No write joins a transaction that is old already")
    func oldTransaction() throws {
        try withEngine(longest: .zero) { engine, commits in
            _ = try engine.atOnce(4) { number throws(KeychainError) in try engine.add(.password("\(number)")) }
            #expect(commits.count == 5)
        }
    }

    @Test("Threads that add without a pause need far fewer transactions than they add items")
    func throughput() throws {
        try withEngine(longest: .seconds(1)) { engine, commits throws in
            let failures = onThreads(16) { worker in
                (0..<25).filter { (try? engine.add(.password("\(worker)-\($0)"))) == nil }.count
            }
            #expect(failures.reduce(0, +) == 0)
            #expect(try engine.find(.password(limit: .all)).count == 1 + 400)
            #expect(commits.count < 200, "\(commits.count)")
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("Two updates of one item in one transaction come one after the other")
    func sameItem() throws {
        try withEngine { engine, commits in
            let answers = try engine.atOnce(6) { number throws(KeychainError) in
                var changes = ItemChanges()
                changes.attributes = [.label: .text("label \(number)")]
                changes.secret = .of("secret \(number)")
                _ = try engine.handle(.update(UpdateRequest(.password(), changes: changes)), from: caller)
            }
            #expect(commits.count == 1)
            #expect(answers.allSatisfy { (try? $0.get()) != nil })
            let item = try #require(try engine.find(.password()).first)
            #expect(item.attributes[.label] == .text("label 5"))
            #expect(item.secret?.copyData() == Data("secret 5".utf8))
            let versions = try engine.store.read { connection in try connection.withRow(1) { $0.version } }
            #expect(versions == 7)
        }
    }

    // MARK: Failures

    @Test("A write that fails takes nothing from its neighbours, and leaves nothing of itself")
    func failure() throws {
        try withEngine { engine, commits in
            try engine.add(.password("second"))
            let others = Caller(groups: ["G", "new"])
            let answers = try engine.atOnce(9) { number throws(KeychainError) in
                guard number % 3 == 1 else {
                    try engine.add(.password("\(number)", group: "new"), as: others)
                    return
                }
                // Brings the first item into a group that is new, or was until now, and then the second one, which would
                // be the same.
                var changes = ItemChanges()
                changes.attributes = [.account: .text("same")]
                changes.accessGroup = "new"
                var query = ItemQuery.password()
                query.accessGroup = "G"
                _ = try engine.handle(.update(UpdateRequest(query, changes: changes)), from: others)
            }
            #expect(commits.count == 2)
            for (number, answer) in answers.enumerated() {
                #expect(answer.code == (number % 3 == 1 ? .duplicateItem : nil))
            }
            let accounts = Set(
                try engine.find(.password(limit: .all), as: others).compactMap { $0.attributes[.account] })
            #expect(accounts == Set(["first", "second", "0", "2", "3", "5", "6", "8"].map { .text($0) }))
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("A home that a failed write made is not there for the next one, which makes it again")
    func undoneHome() throws {
        try withEngine { engine, _ in
            struct Undone: Error {}
            let others = Caller(groups: ["new"])
            #expect(throws: KeychainError.self) { try engine.secret(of: "a", as: others) }
            let answers = try engine.atOnce(2) { number throws(KeychainError) in
                if number == 1 { return _ = try engine.add(.password("a"), as: others) }
                let items = try engine.items()
                let home = Home(
                    itemClass: .genericPassword, tier: .afterFirstUnlock, generation: items.keys.generation,
                    accessGroup: "new", synchronizable: false)
                guard let indexer = try items.keys.indexers(for: .afterFirstUnlock)?.first?.indexer else {
                    throw items.keys.lockedError(.afterFirstUnlock)
                }
                let result = Result {
                    try items.write { connection in
                        _ = try connection.makeHome(home, indexer)
                        throw Undone()
                    }
                }
                guard case .failure(let error) = result, error is Undone else {
                    throw KeychainError(.internalFailure, message: "it was not undone")
                }
            }
            #expect(answers.allSatisfy { $0.code == nil })
            #expect(try engine.secret(of: "a", as: others) == "secret")
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test(
        "A commit that fails is told to everybody whose write was part of it, and nothing is kept",
        arguments: [true, false])
    func failedCommit(isTakenBackBySQLite: Bool) throws {
        try withEngine { engine, commits in
            if isTakenBackBySQLite { commits.refusesNext() } else { try engine.leaveReferencesOpen() }
            let before = commits.count
            let answers = try engine.atOnce(8) { number throws(KeychainError) in
                // The second one is a duplicate of the first, as long as that is there.
                try engine.add(.password("\(number / 2)"))
            }
            #expect(answers.allSatisfy { $0.code == .notAvailable && $0.message.contains("constraint failed") })
            #expect(try engine.find(.password(limit: .all)).count == 1)
            #expect(commits.count == before)
            try engine.store.withWriter { try $0.database.run("DROP TRIGGER IF EXISTS temp.failing") }
            try engine.add(.password("0"))
            #expect(try engine.find(.password(limit: .all)).count == 2)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("Where SQLite takes back the whole transaction, all that were in it are told, and the others go on")
    func abortedTransaction() throws {
        try withEngine { engine, _ in
            // As after an error of the disk.
            try engine.store.withWriter { connection in
                try connection.database.run(
                    """
                    CREATE TEMP TRIGGER failing BEFORE INSERT ON item WHEN length(NEW.secret) > 10000
                    BEGIN SELECT RAISE(ROLLBACK, 'failing'); END
                    """)
            }
            let answers = try engine.atOnce(9) { number throws(KeychainError) in
                try engine.add(number == 4 ? .large(20_000) : .password("\(number)"))
            }
            #expect(answers.prefix(5).allSatisfy { $0.code == .notAvailable && $0.message.contains("failing") })
            #expect(answers.suffix(4).allSatisfy { $0.code == nil })
            let accounts = Set(try engine.find(.password(limit: .all)).compactMap { $0.attributes[.account] })
            #expect(accounts == Set(["first", "5", "6", "7", "8"].map { .text($0) }))
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("An item that the disk has no room for takes no room from those beside it")
    func fullDisk() throws {
        try withEngine { engine, _ in
            // Leaves pages that small items can have, and then no file may grow.
            try engine.add(.large(1 << 20))
            _ = try engine.handle(.delete(.password([.account: .text("large")])), from: caller)
            try engine.store.withWriter { try $0.database.run("PRAGMA max_page_count = 1") }
            let answers = try engine.atOnce(9) { number throws(KeychainError) in
                try engine.add(number == 4 ? .large(8 << 20) : .password("\(number)"))
            }
            #expect(answers[4].code == .diskFull && answers[4].message.contains("full"))
            #expect(answers.filter { $0.code == nil }.count == 8)
            #expect(try engine.find(.password(limit: .all)).count == 9)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("While another process writes, those who wait together fail together")
    func busy() throws {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.busyTimeout = 2
            let engine = try Engine(configuration)
            try engine.add(.password("first"))
            let other = try TestDatabase(ClosedStore(directory: directory).database)
            try other.run("BEGIN IMMEDIATE")
            let start = ContinuousClock.now
            let answers = onThreads(8) { number in
                Result { () throws(KeychainError) in try engine.add(.password("\(number)")) }
            }
            #expect(answers.allSatisfy { $0.code == .notAvailable && $0.message.contains("another process") })
            // One after the other they would wait for sixteen seconds.
            #expect(ContinuousClock.now - start < .seconds(12))
            try other.run("ROLLBACK")
            try engine.add(.password("0"))
        }
    }

    @Test("A renewal of keys and an import have transactions of their own")
    func largeWrites() throws {
        try withEngine { engine, commits in
            let item = try #require(try engine.find(.password()).first)
            let exported = Item(
                itemClass: .genericPassword, identifier: UUID(), attributes: [.account: .text("imported")],
                accessGroup: "G", synchronizable: false, accessControl: item.accessControl, created: 0, modified: 0,
                secret: .of("secret"))
            let answers = try engine.atOnce(3, waiting: 2) { number throws(KeychainError) in
                if number == 2 {
                    _ = try engine.handle(.importItems(ImportRequest([exported])), from: .owner)
                } else {
                    try engine.add(.password("\(number)"))
                }
            }
            #expect(answers.allSatisfy { $0.code == nil })
            #expect(commits.count == 2)
            #expect(try engine.find(.password(limit: .all)).count == 4)
        }
    }
}

// MARK: - Helpers

extension AddRequest {
    fileprivate static func large(_ size: Int) -> AddRequest {
        var request = AddRequest.password("large")
        request.secret = SecretBytes(copying: Data(count: size))
        return request
    }
}

extension Engine {
    /// What becomes of calls that each write once, come in their order while another write is under way, and so wait for
    /// it together.
    ///
    /// - Parameter waiting: How many of them wait to share a transaction, the first ones; nil: all.
    fileprivate func atOnce<R: Sendable>(
        _ count: Int, waiting: Int? = nil, _ body: @escaping @Sendable (Int) throws(KeychainError) -> R
    ) throws -> [Result<R, KeychainError>] {
        let (isUnderWay, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let answers = Mutex<[Int: Result<R, KeychainError>]>([:])
        let threads = DispatchGroup()
        func start(_ work: @escaping @Sendable () -> Void) {
            threads.enter()
            let thread = Thread {
                work()
                threads.leave()
            }
            thread.stackSize = 4 << 20
            thread.start()
        }
        start {
            // Whatever becomes of this one is the matter of none of the tests.
            try? self.store.write { _ in
                isUnderWay.signal()
                mayEnd.wait()
            }
        }
        isUnderWay.wait()
        for number in 0..<count {
            start {
                let answer = Result { () throws(KeychainError) in try body(number) }
                answers.withLock { $0[number] = answer }
            }
            while number < waiting ?? count, store.line.withLock({ $0.waiting.count }) <= number { usleep(200) }
        }
        mayEnd.signal()
        threads.wait()
        return try (0..<count).map { number in try #require(answers.withLock { $0[number] }) }
    }

    /// From now on.
    fileprivate func observeCommits() throws -> CommitObserver {
        let observer = CommitObserver()
        try store.withWriter { connection in
            _ = sqlite3_commit_hook(
                connection.database.handle,
                { Unmanaged<CommitObserver>.fromOpaque($0!).takeUnretainedValue().mayCommit() ? 0 : 1 },
                Unmanaged.passUnretained(observer).toOpaque())
        }
        return observer
    }

    /// From now on a new item leads to a row that is not there, which SQLite finds when the transaction is to be
    /// committed. It stays open then.
    fileprivate func leaveReferencesOpen() throws {
        try store.withWriter { connection in
            try connection.database.run(
                """
                PRAGMA foreign_keys = ON;
                CREATE TEMP TABLE target (id INTEGER PRIMARY KEY);
                CREATE TEMP TABLE reference (target INTEGER REFERENCES target DEFERRABLE INITIALLY DEFERRED);
                CREATE TEMP TRIGGER failing AFTER INSERT ON item BEGIN INSERT INTO reference VALUES (1); END
                """)
        }
    }
}

/// Counts the transactions that are committed, and refuses one if asked to.
private final class CommitObserver: Sendable {
    private struct State {
        var count = 0
        var refusesNext = false
    }
    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    func refusesNext() { state.withLock { $0.refusesNext = true } }

    func mayCommit() -> Bool {
        state.withLock { state in
            defer { state.refusesNext = false }
            if !state.refusesNext { state.count += 1 }
            return !state.refusesNext
        }
    }
}

extension Result where Failure == KeychainError {
    fileprivate var failure: KeychainError? {
        if case .failure(let error) = self { error } else { nil }
    }
    fileprivate var code: KeychainError.Code? { failure?.code }
    fileprivate var message: String { failure?.message ?? "" }
}
