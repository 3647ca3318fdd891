import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// How much one answer may hold.
@Suite struct AnswerSizeTests {
    @Test("An answer that would be too large is refused with advice, and smaller ones to the same items are not")
    func limit() throws {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.mostBytesInAnswer = 1 << 20
            let engine = try Engine(configuration)
            let secret = String(repeating: "s", count: 200_000)
            for number in 0..<8 { try engine.add(.password("\(number)", secret: secret)) }
            let error = #expect(throws: KeychainError.self) { try engine.find(.password(limit: .all)) }
            #expect(error?.code == .dataTooLarge)
            #expect(error?.message.contains("with a limit") == true)
            #expect(try engine.find(.password(limit: .all), secrets: false).count == 8)
            #expect(try engine.find(.password(limit: .atMost(5))).count == 5)
            #expect(try engine.secret(of: "7") == secret)
        }
    }

    /// What a request comes to with so much memory: how much it needs, or nil.
    private func need(_ request: Request, _ engine: Engine, _ mostBytes: Int) throws -> Int? {
        do throws(KeychainError) {
            _ = try engine.handle(request, from: caller, mostBytes: mostBytes)
            return nil
        } catch {
            guard case .needsMemory(let count)? = error.signal else { throw error }
            return count
        }
    }

    @Test("What is opened is known in its size before, and with so much memory the request is done")
    func memory() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            let secret = String(repeating: "s", count: 100_000)
            for number in 0..<8 { try engine.add(.password("\(number)", secret: secret)) }
            func find(_ query: ItemQuery, secrets: Bool = true) -> Request {
                .find(FindRequest(query, wantsSecrets: secrets))
            }
            var changes = ItemChanges()
            changes.attributes = [.label: .text("new")]
            let one = ItemQuery.password([.account: .text("7")])
            // Beside what stays, the largest is there twice while it is opened.
            let cases: [(request: Request, staying: Int)] = [
                (find(one), 1), (find(.password(limit: .all)), 8), (find(.password(limit: .atMost(3))), 3),
                (.update(UpdateRequest(one, changes: changes)), 1),
            ]
            for (request, staying) in cases {
                let count = try #require(try need(request, engine, 64 << 10))
                let least = (staying + 2) * 100_000
                #expect(count >= least && count < least + least / 20 + 10_000, "\(count), \(least) at least")
                #expect(try need(request, engine, count - 1) == count)
                #expect(try need(request, engine, count) == nil)
            }
            #expect(try need(find(.password(limit: .all), secrets: false), engine, 64 << 10) == nil)
            #expect(try need(.add(.password("new", secret: secret)), engine, 0) == nil, "it has what it takes with it")
        }
    }

    @Test("An export takes a part's memory at once")
    func exportMemory() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            let secret = String(repeating: "s", count: 1 << 20)
            for number in 0..<8 { try engine.add(.password("\(number)", secret: secret)) }
            let caller = Caller(groups: [], authority: .owner)
            let request = Request.exportItems(ExportRequest())
            let error = #expect(throws: KeychainError.self) {
                try engine.handle(request, from: caller, mostBytes: 64 << 10)
            }
            guard case .needsMemory(let count)? = error?.signal else {
                Issue.record("\(String(describing: error))")
                return
            }
            guard case .exported(let part) = try engine.handle(request, from: caller, mostBytes: count) else {
                Issue.record("another answer")
                return
            }
            #expect(part.items.count >= 4 && part.next != nil)
        }
    }

    @Test("A group's name counts, since each item of an answer has it")
    func groupCounts() {
        func item(_ group: String) -> Item {
            Item(
                itemClass: .genericPassword, identifier: UUID(), attributes: [:], accessGroup: group,
                synchronizable: false, accessControl: AccessControl(.whenUnlocked), created: 0, modified: 0)
        }
        #expect(item(String(repeating: "G", count: 10_000)).byteCount - item("G").byteCount == 9_999)
    }

    @Test("Without a limit an answer has everything")
    func noLimit() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            let secret = String(repeating: "s", count: 200_000)
            for number in 0..<8 { try engine.add(.password("\(number)", secret: secret)) }
            #expect(try engine.find(.password(limit: .all)).count == 8)
        }
    }
}
