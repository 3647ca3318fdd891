import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainEngine
@testable import KeychainTool
@testable import KeychainTransfer

/// The way of all items from one keychain into another.
@Suite struct ItemMoveTests {
    /// An engine that fails or is gone from a request on, as a daemon that is killed.
    private final class Failing: RequestHandler {
        private let engine: any RequestHandler
        private let rest: Mutex<Int>
        /// Whether the request that fails is carried out before.
        private let answersTooLate: Bool

        init(_ engine: any RequestHandler, after requests: Int, answersTooLate: Bool) {
            self.engine = engine
            self.answersTooLate = answersTooLate
            rest = Mutex(requests)
        }

        func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
            let isAlive = rest.withLock { rest in
                rest -= 1
                return rest >= 0
            }
            if isAlive { return try engine.handle(request, from: caller) }
            if answersTooLate && rest.withLock({ $0 == -1 }) { _ = try engine.handle(request, from: caller) }
            throw KeychainError(.notAvailable, message: "killed")
        }

        func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 { epoch }
        func verifyBiometry(
            for caller: Caller, _ cancellation: Cancellation, hint: (BiometryHint) -> Void
        ) throws(BiometryFailure) -> BiometryTicket { throw .notAvailable("none") }
        func listenForLocks() throws(KeychainError) -> any LockListener {
            throw KeychainError(.unimplemented, message: "")
        }
        func prepareForExit() {}
    }

    /// Two keychains, and a person for each.
    private struct Ends {
        let source: TestKeychain
        let target: TestKeychain

        func move(
            _ source: (any RequestHandler)? = nil, _ target: (any RequestHandler)? = nil, leavesBehind: Bool = false
        ) -> ItemMove {
            var move = ItemMove(
                source: end(source ?? self.source.engine, self.source.prompter),
                target: end(target ?? self.target.engine, self.target.prompter), leavesBehind: leavesBehind)
            move.group = "unconfined"
            // So that a move can end between two deletions.
            move.mostDeleted = 1
            return move
        }

        private func end(_ engine: any RequestHandler, _ prompter: ScriptedPrompter) -> ItemMove.End {
            ItemMove.End(
                connection: Connection(engine: engine, caller: .owner, prompter: prompter),
                asking: Asking(in: AuthenticationSession(), reason: "move"))
        }

        /// Gives the item of an account another secret, ten seconds later.
        func change(_ account: String, to secret: String, in keychain: TestKeychain) throws {
            keychain.clock.advance(by: 10)
            var query = ItemQuery(.genericPassword)
            query.attributes[.account] = .text(account)
            var changes = ItemChanges()
            changes.secret = .of(secret)
            _ = try keychain.engine.handle(.update(UpdateRequest(query, changes: changes)), from: .owner)
        }

        func add(
            _ account: String, group: String = "G", to keychain: TestKeychain? = nil, _ control: AccessControl? = nil
        ) throws {
            var request = AddRequest(.genericPassword)
            request.attributes = [.service: .text("s"), .account: .text(account)]
            request.accessGroup = group
            request.secret = .of("secret of \(account) in \(group)")
            request.accessControl = control
            _ = try (keychain ?? source).engine.handle(.add(request), from: .owner)
        }

        /// The whole move, as the command makes it.
        func run(_ move: ItemMove) throws {
            let plan = try move.plan()
            try move.copy(plan) { _ in }
            try move.removeFromSource(plan)
        }
    }

    private func withEnds(_ body: (Ends) throws -> Void) throws {
        try withKeychain { source in try withKeychain { target in try body(Ends(source: source, target: target)) } }
    }

    /// Everything that a keychain has, by "account@group", with the secret and what stays the same of an item.
    private func content(_ keychain: TestKeychain) throws -> [String: String] {
        var query = ItemQuery(.genericPassword)
        query.limit = .all
        let reply = Result { () throws(KeychainError) in
            try keychain.engine.handle(.find(FindRequest(query, wantsSecrets: true)), from: .owner)
        }
        if case .failure(let error) = reply, error.code == .itemNotFound { return [:] }
        guard case .found(let items) = try reply.get() else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: items.map { item in
                var name = "?"
                if case .text(let account)? = item.attributes[.account] { name = account }
                let secret = String(decoding: item.secret?.copyData() ?? Data(), as: UTF8.self)
                return ("\(name)@\(item.accessGroup)", "\(secret) \(item.identifier) \(item.created) \(item.modified)")
            })
    }

    @Test("Items go with their references, dates and secrets, into one group")
    func whole() throws {
        try withEnds { ends in
            try ends.add("a")
            try ends.add("b", group: "mine")
            try ends.add("c", group: "shared", AccessControl(.whenUnlockedThisDeviceOnly))
            let before = try content(ends.source)
            let plan = try ends.move().plan()
            #expect(plan.count == 3)
            #expect(try content(ends.target).isEmpty, "a plan changes nothing")
            try ends.run(ends.move())
            #expect(try content(ends.source).isEmpty)
            #expect(
                try content(ends.target) == [
                    "a@unconfined": before["a@G"], "b@unconfined": before["b@mine"], "c@unconfined": before["c@shared"],
                ])
            // And once more is nothing more.
            try ends.run(ends.move())
            #expect(try content(ends.target).count == 3)
        }
    }

    @Test("More items than one request takes all arrive")
    func many() throws {
        try withEnds { ends in
            let items = (0..<2_500).map { number in
                Item(
                    itemClass: .genericPassword, identifier: UUID(),
                    attributes: [.account: .text("\(number)"), .service: .text("s")], accessGroup: "G",
                    synchronizable: false, accessControl: AccessControl(.whenUnlocked), created: 500, modified: 1000,
                    secret: .of("secret \(number)"))
            }
            _ = try ends.source.engine.handle(.importItems(ImportRequest(items)), from: .owner)
            let before = try content(ends.source)
            #expect(before.count == 2_500)
            var move = ends.move()
            (move.group, move.mostDeleted) = (nil, ImportRequest.mostItems)
            try ends.run(move)
            #expect(try content(ends.target) == before)
            #expect(try content(ends.source).isEmpty)
        }
    }

    @Test("Two items that would become one are named, and nothing is changed")
    func clashes() throws {
        try withEnds { ends in
            try ends.add("a", group: "one")
            try ends.add("a", group: "two")
            try ends.add("b", group: "G")
            var error = #expect(throws: KeychainError.self) { try ends.move().plan() }
            #expect(error?.code == .duplicateItem)
            #expect(error?.message.contains("1 item would meet another one") == true)
            #expect(error?.message.contains("password s, a of access group two") == true, "\(error?.message ?? "")")
            // So is an item that is there before.
            try ends.add("b", group: "unconfined", to: ends.target)
            error = #expect(throws: KeychainError.self) { try ends.move().plan() }
            #expect(error?.message.contains("2 items would meet another one") == true, "\(error?.message ?? "")")
            #expect(try content(ends.target).count == 1)
            #expect(try content(ends.source).count == 3)
        }
    }

    @Test("However far the move comes before one end is gone, nothing is lost, and the next one completes it")
    func killed() throws {
        for isSource in [true, false] {
            for answersTooLate in [true, false] {
                var count = 0
                var isComplete = false
                while !isComplete {
                    try withEnds { ends in
                        try ends.add("a")
                        try ends.add("b", group: "mine")
                        let before = try content(ends.source)
                        let failing = Failing(
                            isSource ? ends.source.engine : ends.target.engine, after: count,
                            answersTooLate: answersTooLate)
                        do {
                            try ends.run(isSource ? ends.move(failing) : ends.move(nil, failing))
                            isComplete = true
                        } catch let error as KeychainError {
                            #expect(error.message == "killed")
                        }
                        let (left, there) = (try content(ends.source), try content(ends.target))
                        for (name, moved) in [("a@G", "a@unconfined"), ("b@mine", "b@unconfined")] {
                            #expect(left[name] == before[name] || there[moved] == before[name], "after \(count)")
                        }
                        // A program that uses the target by now has a later word.
                        var later = before["a@G"]
                        if there["a@unconfined"] != nil {
                            try ends.change("a", to: "newer", in: ends.target)
                            later = try content(ends.target)["a@unconfined"]
                            #expect(later?.hasPrefix("newer ") == true)
                        }
                        try ends.run(ends.move())
                        #expect(try content(ends.source).isEmpty)
                        #expect(try content(ends.target) == ["a@unconfined": later, "b@unconfined": before["b@mine"]])
                    }
                    count += 1
                }
                #expect(count > 3)
            }
        }
    }

    @Test("An item that changes on the way stays with all that would go with it, and is copied anew")
    func changed() throws {
        try withEnds { ends in
            try ends.add("a")
            try ends.add("b")
            var move = ends.move()
            move.mostDeleted = 2
            let plan = try move.plan()
            try move.copy(plan) { _ in }
            try ends.change("a", to: "newer", in: ends.source)
            let error = #expect(throws: KeychainError.self) { try move.removeFromSource(plan) }
            #expect(error?.message.contains("changed meanwhile") == true)
            #expect(try content(ends.source).count == 2, "the other one stays too")
            try ends.run(move)
            #expect(try content(ends.target)["a@unconfined"]?.hasPrefix("newer ") == true)
            #expect(try content(ends.source).isEmpty)
        }
    }

    @Test("A locked keychain is not moved, in whole or in part")
    func locked() throws {
        try withEnds { ends in
            try ends.add("a")
            try ends.add("b", AccessControl(.always))
            try ends.source.setPasscode("1234")
            try ends.source.lock(.now)
            let error = #expect(throws: KeychainError.self) { try ends.move().plan() }
            #expect(error?.code == .interactionNotAllowed)
            #expect(try content(ends.target).isEmpty)
        }
    }

    @Test("For all items that ask for authentication the person is asked once at each end")
    func constrained() throws {
        try withEnds { ends in
            try ends.source.setPasscode("1234")
            try ends.add("a", AccessControl(.whenUnlocked, flags: .userPresence))
            try ends.add("b", AccessControl(.whenPasscodeSetThisDeviceOnly, flags: .devicePasscode))
            try ends.target.setPasscode("other")
            ends.source.prompter.answer(.text("1234"))
            ends.target.prompter.answer(.text("other"))
            try ends.run(ends.move())
            #expect(ends.source.prompter.questions.count == 1)
            #expect(ends.target.prompter.questions.count == 1)
            #expect(try ends.target.engine.items().counts(in: .all)[.genericPassword] == 2)
            #expect(try ends.source.engine.items().counts(in: .all)[.genericPassword] ?? 0 == 0)
        }
    }

    @Test("Keys that never leave the engine stop the move, unless they are to stay; then they stay usable")
    func keysOfEngine() throws {
        try withEnds { ends in
            var key = AddRequest(.key)
            key.accessGroup = "G"
            _ = try ends.source.engine.handle(.makeKey(key), from: .owner)
            try ends.add("a")
            let error = #expect(throws: KeychainError.self) { try ends.move().plan() }
            #expect(error?.message.contains("1 of a token") == true, "\(error?.message ?? "")")
            try ends.run(ends.move(leavesBehind: true))
            #expect(try content(ends.target).count == 1)
            #expect(try ends.source.engine.items().counts(in: .all)[.key] == 1)
        }
    }

    @Test("An item of another group than the move is about stays, and is not met")
    func groups() throws {
        try withEnds { ends in
            try ends.add("a", group: "unconfined")
            try ends.add("c", group: "others")
            try ends.add("c", group: "others", to: ends.target)
            let source = try #require(ends.move().source)
            let some = ItemMove.End(connection: source.connection, asking: source.asking, group: "unconfined")
            try ends.run(ItemMove(source: some, target: ends.move().target))
            #expect(try content(ends.target).keys.sorted() == ["a@unconfined", "c@others"])
            #expect(try Array(content(ends.source).keys) == ["c@others"])
        }
    }

    @Test("After a move that was cut short the way back leaves an item that is still there in its group")
    func regrouped() throws {
        try withEnds { ends in
            try ends.add("a")
            try ends.add("b")
            let before = try content(ends.source)
            let there = ends.move()
            try there.copy(try there.plan()) { _ in }
            try ends.change("b", to: "newer", in: ends.target)
            let later = try content(ends.target)["b@unconfined"]
            try ends.run(ItemMove(source: there.target, target: there.source))
            #expect(try content(ends.source) == ["a@G": before["a@G"], "b@unconfined": later])
            #expect(try content(ends.target).isEmpty)
        }
    }

    @Test("An item that comes into the source meanwhile is not left there unnoticed")
    func late() throws {
        try withEnds { ends in
            try ends.add("a")
            let move = ends.move()
            let plan = try move.plan()
            try ends.add("b")
            #expect(throws: KeychainError.self) { try move.copy(plan) { _ in } }
            let error = #expect(throws: KeychainError.self) { try move.removeFromSource(plan) }
            #expect(error?.message.contains("changed meanwhile") == true)
            try ends.run(move)
            #expect(try content(ends.target).keys.sorted() == ["a@unconfined", "b@unconfined"])
        }
    }

    @Test("Protected files stop the move in either direction, unless they are to stay; an export does not tell of them")
    func files() throws {
        try withEnds { ends in
            try ends.add("a")
            _ = try ends.source.engine.handle(.fileKey(.make(.always, fileID: UUID())), from: .owner)
            let error = #expect(throws: KeychainError.self) { try ends.move().plan() }
            #expect(error?.message.contains("protected files") == true, "\(error?.message ?? "")")
            let plan = try ends.move(leavesBehind: true).plan()
            #expect(plan.hasFiles && plan.count == 1)
            guard case .exported(let part) = try ends.source.engine.handle(.exportItems(ExportRequest()), from: .owner)
            else { throw KeychainError.unexpectedReply }
            #expect(!part.hasFiles)
        }
    }

    @Test("From a keychain that is not there nothing goes, and into one that is not there yet all would")
    func missing() throws {
        try withEnds { ends in
            try ends.add("a")
            let move = ends.move()
            let nothing = ItemMove(source: nil, target: move.target)
            try ends.run(nothing)
            #expect(try content(ends.target).isEmpty)
            #expect(try ItemMove(source: move.source, target: nil).plan().count == 1)
        }
    }

    @Test("Only the owner moves items out")
    func owner() throws {
        try withEnds { ends in
            for request in [
                Request.removeMoved([]), .exportItems(ExportRequest(isMove: true)),
                .importItems(ImportRequest([], isMove: true)),
            ] {
                let error = #expect(throws: KeychainError.self) {
                    try ends.source.engine.handle(request, from: Caller(groups: ["G"]))
                }
                #expect(error?.code == .missingEntitlement)
            }
        }
    }
}
