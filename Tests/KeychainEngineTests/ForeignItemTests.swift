import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// What a program of the system's host learns of the items of others: nothing. Each question is asked of two stores, which
/// differ in other programs' items alone.
@Suite struct ForeignItemTests {
    private let own = Caller(groups: ["own", "shared"])
    private let other = Caller(groups: ["other"])

    /// A store in which a program has its items, and another one may have its own of the same names.
    private final class Store {
        let engine: Engine
        let clock: TestClock
        /// The other program's items of every kind; where it has none, references that lead nowhere.
        private(set) var foreign: [PersistentReference] = []
        private(set) var position: ChangePosition

        init(_ directory: URL, own: Caller, other: Caller, isShared: Bool) throws {
            clock = TestClock()
            var configuration = EngineConfiguration.test(in: directory, clock: clock)
            configuration.host = .system
            engine = try Engine(configuration)
            for request in Self.everything { try engine.add(request, as: own) }
            for request in Self.everything {
                if isShared { foreign.append(try engine.add(request, as: other).persistentReference) }
            }
            if isShared {
                guard case .added(let key) = try engine.handle(.makeKey(AddRequest(.key)), from: other) else {
                    throw engine.wrongReply
                }
                foreign.append(key.persistentReference)
                var late = AddRequest.password("late")
                late.expires = .after(500_000)
                foreign.append(try engine.add(late, as: other).persistentReference)
            } else {
                let classes = Self.everything.map(\.itemClass) + [.key, .genericPassword]
                foreign = classes.map { PersistentReference(itemClass: $0, identifier: UUID()) }
            }
            position = try engine.position()
        }

        /// An item of each class and protection. The two halves of an identity belong together; a second key and a second
        /// certificate are each without a half.
        private static var everything: [AddRequest] {
            func half(_ itemClass: ItemClass, _ number: UInt8) -> AddRequest {
                let hash = AttributeValue.data(Data(repeating: number, count: 20))
                var request = AddRequest(itemClass)
                request.attributes =
                    itemClass == .certificate
                    ? [.publicKeyHash: hash, .serialNumber: .data(Data([number]))]
                    : [.applicationLabel: hash, .keyClass: .number(1)]
                request.secret = .of("half")
                return request
            }
            var internet = AddRequest(.internetPassword)
            internet.attributes = [.server: .text("example.org"), .account: .text("a")]
            internet.secret = .of("secret")
            return Protection.withoutPasscode.map {
                .password("of \($0)", protection: $0)
            } + [internet, half(.certificate, 1), half(.key, 1), half(.certificate, 2), half(.key, 3)]
        }

        /// The other program works: nothing of it may show.
        func workOfOther(_ other: Caller) throws {
            try engine.add(.password("new"), as: other)
            var changes = ItemChanges()
            changes.attributes = [.label: .text("new")]
            _ = try engine.handle(
                .update(UpdateRequest(.password([.account: .text("new")]), changes: changes)), from: other)
            _ = try engine.handle(.delete(.password([.account: .text("new")])), from: other)
        }

        func told(_ caller: Caller) throws -> [String] {
            let (changes, next) = try engine.changes(after: position, for: caller)
            position = next
            return changes.map { change in
                if case .items(let itemClass, let group) = change { "\(itemClass) \(group)" } else { "lock" }
            }.sorted()
        }
    }

    /// An answer without what is drawn at random.
    private func answer(_ engine: Engine, _ request: Request, _ caller: Caller) -> String {
        func text(_ item: Item) -> String {
            let attributes = item.attributes.entries.map { "\($0.attribute.name)" }.sorted().joined(separator: " ")
            return "\(item.itemClass) \(item.accessGroup) \(attributes) \(item.secret?.count ?? -1)"
        }
        do throws(KeychainError) {
            switch try engine.handle(request, from: caller) {
            case .added(let item): return "added \(text(item))"
            case .found(let items): return "found \(items.map(text).sorted())"
            case .resolved(let resolution): return "resolved \(resolution.matches.map { text($0.item) }.sorted())"
            case .deleted(let count): return "deleted \(count)"
            case .status(let status):
                return
                    "status \(status.itemCounts.filter { $0.value > 0 }.map { "\($0)" }.sorted()) \(status.bytesOnDisk)"
            case .rekeyed(let progress): return "renewal \(progress)"
            case .committed(let isDone): return "committed \(isDone)"
            case .lockStatus(let status): return "lock \(status.state) \(status.failedAttempts)"
            case .keyResult, .expired, .done, .checked, .exported, .imported, .fileKey, .fileKeyBackup,
                .authenticationStatus, .authenticationNeeded:
                return "another answer"
            }
        } catch {
            return "\(error.code): \(error.message)"
        }
    }

    /// Everything a program could try, by searches and by references that it may have come to know.
    private func attempts(_ foreign: [PersistentReference]) -> [Request] {
        var changes = ItemChanges()
        changes.attributes = [.label: .text("changed")]
        var requests: [Request] = [.status, .rekeyStep, .lockStatus]
        for itemClass in ItemClass.allCases {
            var all = ItemQuery(itemClass)
            all.limit = .all
            all.synchronizable = .any
            for secrets in [false, true] { requests.append(.find(FindRequest(all, wantsSecrets: secrets))) }
            var foreignGroup = all
            foreignGroup.accessGroup = "other"
            requests += [
                .find(FindRequest(foreignGroup, wantsSecrets: false)), .delete(foreignGroup),
                .update(UpdateRequest(foreignGroup, changes: changes)),
            ]
        }
        for reference in foreign {
            let query = ItemQuery(exactly: reference)
            requests += [
                .find(FindRequest(query, wantsSecrets: true)), .update(UpdateRequest(query, changes: changes)),
                .delete(query), .useKey(KeyUse(reference, .sign(digest: Data(count: 32)))),
                .transaction(TransactionRequest(seen: [SeenItems(query, versions: [])], steps: [.delete(query)])),
            ]
        }
        var foreignAdd = AddRequest.password("x", group: "other")
        var moved = ItemChanges()
        moved.accessGroup = "other"
        requests += [
            .add(foreignAdd), .transaction(TransactionRequest(steps: [.put(foreignAdd)])),
            .update(UpdateRequest(.password(limit: .all), changes: moved)),
        ]
        foreignAdd.accessGroup = nil
        requests += [
            .add(.password("new")), .add(.password("new")), .add(.password("late")),
            .add(.password("of \(Protection.whenUnlocked)")),
            .transaction(TransactionRequest(steps: [.put(.password("new", secret: "put"))])),
            .update(UpdateRequest(.password(limit: .all), changes: changes)),
            .delete(.password([.account: .text("of \(Protection.always)")])),
            .delete(.password([.account: .text("of \(Protection.whenUnlocked)")])),
        ]
        var identities = ItemQuery(.identity)
        identities.synchronizable = .any
        requests += [.update(UpdateRequest(identities, changes: changes)), .delete(identities)]
        for itemClass in ItemClass.stored {
            var all = ItemQuery(itemClass)
            all.synchronizable = .any
            requests += [.delete(all), .delete(all), .status]
        }
        return requests
    }

    private enum Situation: String, CaseIterable { case noPasscode, unlocked, locked }

    @Test(
        "No answer, error, count or event tells a program of another's items", arguments: [false, true],
        [Situation.noPasscode, .unlocked, .locked])
    private func nothingTells(isOwnerClaimed: Bool, _ situation: Situation) throws {
        var own = own
        if isOwnerClaimed { own.authority = .claimedOwner }
        try withTemporaryDirectory { directory in
            let stores = try ["alone", "shared"].map { name in
                try Store(
                    directory.appendingPathComponent(name), own: own, other: other, isShared: name == "shared")
            }
            for store in stores where situation != .noPasscode { try store.engine.setPasscode("1234") }
            for store in stores where situation == .locked { _ = try store.engine.handle(.lock(.now), from: .owner) }
            for store in stores { _ = try store.told(own) }
            let tries = zip(attempts(stores[0].foreign), attempts(stores[1].foreign))
            for (number, (alone, shared)) in tries.enumerated() {
                let answers = [answer(stores[0].engine, alone, own), answer(stores[1].engine, shared, own)]
                #expect(answers[0] == answers[1], "\(number): \(shared)")
                let told = try stores.map { try $0.told(own) }
                #expect(told[0] == told[1], "\(number): \(shared)")
            }
            if situation == .locked { return }
            try stores[1].workOfOther(other)
            // The clock passes the dates of others' items, and whoever writes or sweeps then says nothing of it.
            for store in stores {
                store.clock.advance(by: 1_000)
                _ = try store.engine.removeExpiredIfDue()
                #expect(try store.told(own) == [])
                try store.engine.add(.password("after"), as: own)
                store.clock.advance(by: 10_000)
                _ = try store.engine.removeExpiredIfDue()
                #expect(try store.told(own) == ["genericPassword own"])
            }
            #expect(try stores[1].engine.find(.password(limit: .all), as: other).count == 6)
        }
    }

    @Test("Whoever holds the group is told of an item that expires, and of its removal")
    func ownExpiry() throws {
        try withTemporaryDirectory { directory in
            let store = try Store(directory, own: own, other: other, isShared: true)
            _ = try store.told(other)
            store.clock.advance(by: 1_000)
            _ = try store.engine.removeExpiredIfDue()
            #expect(try store.told(other) == ["genericPassword other"])
            store.clock.advance(by: 10_000)
            _ = try store.engine.removeExpiredIfDue()
            #expect(try store.told(other) == ["genericPassword other"])
            _ = try store.engine.removeExpiredIfDue()
            #expect(try store.told(other) == [])
        }
    }

    @Test("Before the first unlock it shows that others have items of a class, and nothing else does")
    func beforeFirstUnlock() throws {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.host = .system
            let reference: PersistentReference
            do {
                let engine = try Engine(configuration)
                reference = try engine.add(.password("a"), as: other).persistentReference
                try engine.setPasscode("1234")
            }
            let engine = try Engine(configuration)
            #expect(try engine.lockStatus().state == .neverUnlocked)
            func code(_ request: Request) -> KeychainError.Code? {
                let result = Result { () throws(KeychainError) in _ = try engine.handle(request, from: own) }
                if case .failure(let error) = result { return error.code } else { return nil }
            }
            // The exception: rows whose index is out of reach count for all groups.
            var always = AddRequest.password("b", protection: .always)
            for request in [
                Request.find(FindRequest(.password(), wantsSecrets: false)), .delete(.password()),
                .find(FindRequest(ItemQuery(exactly: reference), wantsSecrets: false)), .add(always),
            ] {
                #expect(code(request) == .interactionNotAllowed)
            }
            // Another class, another reference, a group not held, and the counts.
            always.itemClass = .internetPassword
            var named = ItemQuery.password()
            named.accessGroup = "other"
            let nowhere = PersistentReference(itemClass: .genericPassword, identifier: UUID())
            #expect(code(.find(FindRequest(ItemQuery(.key), wantsSecrets: false))) == .itemNotFound)
            #expect(code(.find(FindRequest(ItemQuery(exactly: nowhere), wantsSecrets: false))) == .itemNotFound)
            #expect(code(.find(FindRequest(named, wantsSecrets: false))) == .missingEntitlement)
            guard case .status(let status) = try engine.handle(.status, from: own) else { throw engine.wrongReply }
            #expect(status.itemCounts.values.allSatisfy { $0 == 0 } && status.bytesOnDisk == 0)
        }
    }

    @Test("The owner is told of all, by numbers and sizes too")
    func owner() throws {
        try withTemporaryDirectory { directory in
            let store = try Store(directory, own: own, other: other, isShared: true)
            guard case .status(let all) = try store.engine.handle(.status, from: .owner),
                case .status(let part) = try store.engine.handle(.status, from: own)
            else { throw store.engine.wrongReply }
            #expect(all.itemCounts[.genericPassword] == 13 && part.itemCounts[.genericPassword] == 6)
            #expect(all.itemCounts[.key] == 5 && part.itemCounts[.key] == 2)
            #expect(all.bytesOnDisk > 0)
        }
    }
}
