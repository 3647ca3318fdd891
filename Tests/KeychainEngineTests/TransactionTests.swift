import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

@Suite("Transactions at the engine") struct TransactionTests {
    private static func password(_ account: String, _ secret: String = "secret") -> AddRequest {
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text(account), .service: .text("s")]
        request.secret = .of(secret)
        return request
    }

    private static func query(_ account: String) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text(account), .service: .text("s")]
        return query
    }

    private let caller = Caller(groups: ["G1", "G2"])

    private func commit(_ test: TestKeychain, _ request: TransactionRequest) throws -> Bool {
        guard case .committed(let isCommitted) = try test.handler.handle(.transaction(request), from: caller) else {
            throw KeychainError(.internalFailure, message: "another reply")
        }
        return isCommitted
    }

    private func find(_ test: TestKeychain, _ query: ItemQuery) throws -> [Item] {
        do throws(KeychainError) {
            guard
                case .found(let items) = try test.handler.handle(
                    .find(FindRequest(query, wantsSecrets: true)), from: caller)
            else { return [] }
            return items
        } catch  where error.code == .itemNotFound {
            return []
        }
    }

    private func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? KeychainError)?.code }
    }

    @Test(
        "A put keeps the item's reference, group and comments, and adds one where there is none",
        arguments: KeychainHost.allCases)
    func put(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            var first = Self.password("a")
            first.attributes[.comment] = .text("mine")
            first.accessGroup = "G2"
            #expect(try commit(test, TransactionRequest(steps: [.put(first)])))
            let before = try #require(try find(test, Self.query("a")).first)
            var second = Self.password("a", "new")
            second.accessGroup = "G2"
            second.attributes[.label] = .text("label")
            #expect(try commit(test, TransactionRequest(steps: [.put(second)])))
            let after = try #require(try find(test, Self.query("a")).first)
            #expect(
                after.identifier == before.identifier && after.created == before.created
                    && after.modified > before.modified)
            #expect(after.attributes[.comment] == .text("mine") && after.attributes[.label] == .text("label"))
            #expect(after.secret?.copyData() == Data("new".utf8))
            #expect(try commit(test, TransactionRequest(steps: [.put(Self.password("a", "another group's"))])))
            #expect(
                try find(
                    test,
                    {
                        var all = Self.query("a"); all.limit = .all; return all
                    }()
                ).count == 2)
        }
    }

    @Test(
        "An item that no answer has is not there for a transaction either, and gives way",
        arguments: [true, false])
    func itemsWithoutAnAnswer(_ isDamaged: Bool) throws {
        try withKeychain { test in
            var request = Self.password("a")
            if !isDamaged {
                test.reader.enroll(1)
                request.accessControl = try AccessControl(.whenUnlocked, flags: .biometryCurrentSet)
            }
            _ = try test.handler.handle(.add(request), from: caller)
            let present = SeenItems(Self.query("a"), versions: [])
            #expect(try !commit(test, TransactionRequest(seen: [present], steps: [])))
            if isDamaged {
                try database(test).run("UPDATE item SET secret = zeroblob(length(secret))")
            } else {
                test.reader.enroll(1, 2)
            }
            #expect(try find(test, Self.query("a")).isEmpty)
            #expect(try commit(test, TransactionRequest(seen: [present], steps: [])))
            #expect(try commit(test, TransactionRequest(seen: [present], steps: [.put(Self.password("a", "new"))])))
            #expect(try find(test, Self.query("a")).map { $0.secret?.copyData() } == [Data("new".utf8)])
        }
    }

    private func database(_ test: TestKeychain) throws -> TestDatabase {
        try TestDatabase(test.directory.appendingPathComponent("store/keychain.db"))
    }

    @Test("A transaction without changes is a question, and waits for no writer", arguments: KeychainHost.carriers)
    func question(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            _ = try test.handler.handle(.add(Self.password("a")), from: caller)
            let writer = try database(test)
            let question = SeenItems(Self.query("a"), versions: [])
            try writer.transaction {
                let isSo = try commit(test, TransactionRequest(seen: [question], steps: []))
                #expect(!isSo)
            }
        }
    }

    @Test("One change that fails takes all others back", arguments: KeychainHost.allCases)
    func failure(_ host: KeychainHost) throws {
        try withKeychain(host) { test throws in
            #expect(try commit(test, TransactionRequest(steps: [.add(Self.password("a", "old"))])))
            let others: [TransactionRequest.Step] = [
                .put(Self.password("a", "new")), .put(Self.password("b")), .delete(Self.query("a")),
                .add(Self.password("c")),
            ]
            var foreign = Self.password("d")
            foreign.accessGroup = "G3"
            var identity = Self.query("a")
            identity.itemClass = .identity
            identity.attributes = [:]
            for (step, expected) in [
                (.add(Self.password("c")), .duplicateItem),
                (.update(UpdateRequest(Self.query("none"), changes: ItemChanges())), .itemNotFound),
                (.put(foreign), .missingEntitlement), (.add(foreign), .missingEntitlement),
                (.delete(identity), .parameter),
                (.update(UpdateRequest(identity, changes: ItemChanges())), .parameter),
            ] as [(TransactionRequest.Step, KeychainError.Code)] {
                #expect(code { _ = try commit(test, TransactionRequest(steps: others + [step])) } == expected)
                #expect(code { _ = try commit(test, TransactionRequest(steps: [step] + others)) } != nil)
            }
            #expect(try find(test, Self.query("a")).first?.secret?.copyData() == Data("old".utf8))
            #expect(try find(test, Self.query("b")).isEmpty)
            #expect(try find(test, Self.query("c")).isEmpty)
        }
    }

    @Test("Nothing is changed unless every look finds what it has found", arguments: KeychainHost.carriers)
    func seen(_ host: KeychainHost) throws {
        try withKeychain(host) { test throws in
            for account in ["a", "b"] {
                #expect(try commit(test, TransactionRequest(steps: [.add(Self.password(account))])))
            }
            let a = try #require(try find(test, Self.query("a")).first)
            let b = try #require(try find(test, Self.query("b")).first)
            var all = ItemQuery(.genericPassword)
            all.attributes = [.service: .text("s")]
            let other = ItemVersion(identifier: a.identifier, modified: a.modified.nextUp)
            for (seen, isSo) in [
                (SeenItems(Self.query("a"), versions: [ItemVersion(a)]), true),
                (SeenItems(Self.query("c"), versions: []), true),
                (SeenItems(all, versions: [ItemVersion(b), ItemVersion(a)]), true),
                (SeenItems(all, versions: [ItemVersion(a)]), false),
                (SeenItems(Self.query("a"), versions: []), false),
                (SeenItems(Self.query("c"), versions: [ItemVersion(a)]), false),
                (SeenItems(Self.query("a"), versions: [other]), false),
                (SeenItems(Self.query("a"), versions: [ItemVersion(b)]), false),
            ] {
                let request = TransactionRequest(
                    seen: [seen], steps: [.put(Self.password("result", "\(isSo)")), .delete(Self.query("c"))])
                #expect(try commit(test, request) == isSo)
                #expect(try find(test, Self.query("result")).isEmpty == !isSo)
                #expect(try commit(test, TransactionRequest(steps: [.delete(Self.query("result"))])))
            }
            var foreign = SeenItems(Self.query("a"), versions: [])
            foreign.query.accessGroup = "G3"
            #expect(
                code { _ = try commit(test, TransactionRequest(seen: [foreign], steps: [])) } == .missingEntitlement)
        }
    }

    @Test("A put needs the item unlocked, a deletion does not, and a look says that it is locked")
    func locked() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            #expect(try commit(test, TransactionRequest(steps: [.add(Self.password("a"))])))
            let a = try #require(try find(test, Self.query("a")).first)
            try test.lock(.now)
            for request in [
                TransactionRequest(steps: [.put(Self.password("a"))]),
                TransactionRequest(steps: [.add(Self.password("b"))]),
                TransactionRequest(seen: [SeenItems(Self.query("a"), versions: [ItemVersion(a)])], steps: []),
            ] {
                #expect(code { _ = try commit(test, request) } == .interactionNotAllowed)
            }
            #expect(try commit(test, TransactionRequest(steps: [.delete(Self.query("a"))])))
        }
    }

    @Test("A look asks nobody, a put over an item that asks does", arguments: KeychainHost.carriers)
    func consent(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            try test.setPasscode("1234")
            var request = Self.password("a")
            request.accessControl = try AccessControl(.whenUnlocked, flags: .devicePasscode)
            #expect(try commit(test, TransactionRequest(steps: [.put(request)])))
            #expect(try !commit(test, TransactionRequest(seen: [SeenItems(Self.query("a"), versions: [])], steps: [])))
            let put = Request.transaction(TransactionRequest(steps: [.put(Self.password("a", "new"))]))
            guard case .authenticationNeeded = try test.handler.handle(put, from: caller) else {
                Issue.record("nobody is asked")
                return
            }
            let proof = AuthenticationProof(passcode: .of("1234"))
            guard case .committed(true) = try test.handler.handle(.authenticated(proof, put), from: caller) else {
                Issue.record("the passcode is not taken")
                return
            }
        }
    }

    @Test("Those who follow the changes are told of each group that a transaction has changed, and of none it has not")
    func told() throws {
        try withKeychain { test in
            let start = try test.engine.position()
            var other = Self.password("b")
            other.accessGroup = "G2"
            let notSo = SeenItems(Self.query("x"), versions: [ItemVersion(identifier: UUID(), modified: 1)])
            #expect(try !commit(test, TransactionRequest(seen: [notSo], steps: [.put(other)])))
            #expect(try itemChanges(test, after: start, for: caller).isEmpty)
            #expect(try commit(test, TransactionRequest(steps: [.put(other)])))
            #expect(
                try itemChanges(test, after: start, for: caller) == [.items(.genericPassword, accessGroup: "G2")])
            #expect(try itemChanges(test, after: start, for: Caller(groups: ["G1"])).isEmpty)
        }
    }

    private func itemChanges(
        _ test: TestKeychain, after position: ChangePosition, for caller: Caller
    ) throws -> [StoreChange] {
        try test.engine.changes(after: position, for: caller).changes.filter { change in
            if case .items = change { true } else { false }
        }
    }
}
