import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Keys that are made and used in the engine: what reaches them, and what of them leaves. How programs see them: case K of
/// the conformance tests.
@Suite struct EngineKeyTests {
    private func make(_ keychain: TestKeychain, as caller: Caller = caller, label: String = "L") throws -> Item {
        var request = AddRequest(.key)
        request.attributes = [.label: .text(label)]
        guard case .added(let item) = try keychain.handler.handle(.makeKey(request), from: caller) else {
            throw keychain.handler.wrongReply
        }
        return item
    }

    private func use(
        _ keychain: TestKeychain, _ reference: PersistentReference, _ operation: KeyUse.Operation,
        as caller: Caller = caller
    ) throws(KeychainError) -> Data {
        let reply = try keychain.handler.handle(.useKey(KeyUse(reference, operation)), from: caller)
        guard case .keyResult(let bytes) = reply else { throw keychain.handler.wrongReply }
        return bytes.copyData()
    }

    private func publicKey(_ item: Item) throws -> ECKey {
        guard case .data(let point)? = item.attributes[.tokenObjectID] else {
            throw KeychainError(.decode, message: "")
        }
        return try ECKey(.p256, point: point)
    }

    private func expectFails(
        _ code: KeychainError.Code, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Any
    ) {
        let error = #expect(throws: KeychainError.self, sourceLocation: location) { _ = try body() }
        #expect(error?.code == code, sourceLocation: location)
    }

    private let digest = Data(repeating: 0x17, count: 32)

    @Test("A key signs and agrees, and its secret is in no answer", arguments: KeychainHost.allCases)
    func noBytes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let item = try make(keychain)
            #expect(item.secret == nil && item.isKeptInEngine)
            let key = try publicKey(item)
            let signature = try use(keychain, item.persistentReference, .sign(digest: digest))
            #expect(key.isSignature(signature, ofDigest: digest))
            let peer = try ECKey(generating: .p256)
            let secret = try use(keychain, item.persistentReference, .agree(point: peer.point))
            #expect(secret == (try peer.sharedSecret(with: key)))
            for limit in [ItemQuery.Limit.one, .all] {
                var query = ItemQuery(.key)
                query.limit = limit
                #expect(try keychain.handler.find(query).allSatisfy { $0.secret == nil })
                query.persistentReference = item.persistentReference
                #expect(try keychain.handler.find(query).map(\.secret?.count) == [nil])
            }
        }
    }

    @Test("What is no point on the curve agrees on nothing", arguments: KeychainHost.carriers)
    func points(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let item = try make(keychain)
            let good = try ECKey(generating: .p256).point
            var off = good
            off[64] ^= 1
            let wrong = [
                Data(), Data([0]), good.dropLast(), good + Data([0]), off, Data([4]) + Data(count: 64),
                try ECKey(generating: .p384).point, Data([2]) + good[1...32],
            ]
            for point in wrong {
                expectFails(.parameter) {
                    try use(keychain, item.persistentReference, .agree(point: Data(point)))
                }
            }
        }
    }

    @Test("An item that is no key of the engine is not used", arguments: KeychainHost.carriers)
    func otherItems(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var software = AddRequest(.key)
            software.attributes = [.keyClass: .number(1), .type: .number(73)]
            software.secret = try ECKey(generating: .p256).privateBytes
            let items = [try keychain.handler.add(software), try keychain.handler.add(.password("a"))]
            for item in items {
                expectFails(.itemNotFound) { try use(keychain, item.persistentReference, .sign(digest: digest)) }
            }
            let none = PersistentReference(itemClass: .key, identifier: UUID())
            expectFails(.itemNotFound) { try use(keychain, none, .sign(digest: digest)) }
        }
    }

    @Test("Only callers of its group use it", arguments: KeychainHost.allCases)
    func groups(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let item = try make(keychain)
            let other = Caller(groups: ["H"])
            expectFails(.itemNotFound) {
                try use(keychain, item.persistentReference, .sign(digest: digest), as: other)
            }
            expectFails(.missingEntitlement) {
                try use(keychain, item.persistentReference, .sign(digest: digest), as: Caller(groups: []))
            }
            let both = Caller(groups: ["H", "G"])
            #expect(try use(keychain, item.persistentReference, .sign(digest: digest), as: both).count == 64)
        }
    }

    @Test("No request brings one of another's making in", arguments: KeychainHost.allCases)
    func forged(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var forged = AddRequest(.key)
            forged.attributes = [.tokenID: .text(Item.engineToken)]
            forged.secret = try ECKey(generating: .p256).privateBytes
            expectFails(.parameter) { try keychain.handler.add(forged) }
            // The bytes of a text are the text (C.16).
            forged.attributes = [.tokenID: .data(Data(Item.engineToken.utf8))]
            expectFails(.parameter) { try keychain.handler.add(forged) }
            for step in [TransactionRequest.Step.add(forged), .put(forged)] {
                expectFails(.parameter) {
                    try keychain.handler.handle(.transaction(TransactionRequest(steps: [step])), from: caller)
                }
            }
            let item = try make(keychain)
            var copy = item
            copy.identifier = UUID()
            copy.secret = try ECKey(generating: .p256).privateBytes
            copy.modified += 1000
            #expect(try keychain.engine.merge([copy, item]) == [.refused, .refused])
            var secret = AddRequest(.key)
            secret.secret = try ECKey(generating: .p256).privateBytes
            expectFails(.parameter) { try keychain.handler.handle(.makeKey(secret), from: caller) }
            expectFails(.parameter) {
                try keychain.handler.handle(.makeKey(AddRequest(.genericPassword)), from: caller)
            }
            var synchronizable = AddRequest(.key)
            synchronizable.synchronizable = true
            expectFails(.parameter) { try keychain.handler.handle(.makeKey(synchronizable), from: caller) }
        }
    }

    @Test("What a request says of the key itself does not count, but for its label", arguments: KeychainHost.carriers)
    func ownAttributes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var request = AddRequest(.key)
            request.attributes = [
                .tokenID: .text("other"), .tokenObjectID: .data(Data([4])), .keyClass: .number(0), .type: .number(42),
                .keySizeInBits: .number(1), .applicationLabel: .data(Data([1])),
            ]
            guard case .added(let item) = try keychain.handler.handle(.makeKey(request), from: caller) else {
                throw keychain.handler.wrongReply
            }
            #expect(item.isKeptInEngine)
            #expect(item.attributes[.keyClass] == .number(1))
            #expect(item.attributes[.type] == .number(73))
            #expect(item.attributes[.applicationLabel] == .data(Data([1])))
            #expect(try use(keychain, item.persistentReference, .sign(digest: digest)).count == 64)
        }
    }

    @Test("No change by a transaction lets it out or exchanges it", arguments: KeychainHost.carriers)
    func changes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let item = try make(keychain)
            var query = ItemQuery(.key)
            query.persistentReference = item.persistentReference
            let all: [(inout ItemChanges) throws -> Void] = [
                { $0.secret = try ECKey(generating: .p256).privateBytes },
                { $0.attributes = [.tokenID: .text("")] },
                { $0.attributes = [.applicationLabel: .data(Data([1]))] },
                { $0.synchronizable = true },
            ]
            for change in all {
                var changes = ItemChanges()
                try change(&changes)
                let step = TransactionRequest.Step.update(UpdateRequest(query, changes: changes))
                expectFails(.parameter) {
                    try keychain.handler.handle(.transaction(TransactionRequest(steps: [step])), from: caller)
                }
                expectFails(.parameter) {
                    try keychain.handler.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
                }
            }
            #expect(try use(keychain, item.persistentReference, .sign(digest: digest)).count == 64)
        }
    }

    @Test("An export leaves it out, and says so")
    func export() throws {
        try withKeychain { keychain in
            _ = try make(keychain)
            try keychain.engine.add(.password("a"))
            let (items, leftOut, _) = try keychain.engine.exportAll()
            #expect(items.map(\.itemClass) == [.genericPassword])
            #expect(leftOut.ofTokens == 1 && leftOut.total == 1)
        }
    }

    @Test("It is used while all keys are being renewed, and after", arguments: KeychainHost.allCases)
    func renewal(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let first = try make(keychain)
            for number in 0..<620 { try keychain.engine.add(.password("\(number)")) }
            let last = try make(keychain, label: "last")
            func expectUsable() throws {
                for item in [first, last] {
                    let signature = try use(keychain, item.persistentReference, .sign(digest: digest))
                    #expect(try publicKey(item).isSignature(signature, ofDigest: digest))
                }
            }
            var reply = try keychain.handler.handle(.passcode(.set(.of("1234"))), from: .owner)
            try expectUsable()
            reply = try keychain.handler.handle(.rekeyStep, from: .owner)
            try expectUsable()
            try keychain.handler.finishRekey(after: reply)
            try expectUsable()
            try keychain.handler.changePasscode(from: "1234", to: "5678", rekey: true)
            try expectUsable()
        }
    }

    @Test("It is used in the states of the lock in which its row opens", arguments: KeychainHost.allCases)
    func locked(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let usable: [Protection: Bool] = [
                .whenUnlocked: false, .whenUnlockedThisDeviceOnly: false, .whenPasscodeSetThisDeviceOnly: false,
                .afterFirstUnlock: true, .always: true,
            ]
            try keychain.setPasscode("1234")
            var keys: [(key: PersistentReference, isUsable: Bool)] = []
            for (protection, isUsable) in usable {
                var request = AddRequest(.key)
                request.accessControl = AccessControl(protection)
                guard case .added(let item) = try keychain.handler.handle(.makeKey(request), from: caller) else {
                    throw keychain.handler.wrongReply
                }
                keys.append((item.persistentReference, isUsable))
            }
            try keychain.lock(.now)
            for (key, isUsable) in keys {
                if isUsable {
                    #expect(try use(keychain, key, .sign(digest: digest)).count == 64)
                } else {
                    expectFails(.interactionNotAllowed) { try use(keychain, key, .sign(digest: digest)) }
                }
            }
            try keychain.unlock("1234")
            for (key, _) in keys { #expect(try use(keychain, key, .sign(digest: digest)).count == 64) }
        }
    }

    @Test("It expires like every other item", arguments: KeychainHost.carriers)
    func expiry(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var request = AddRequest(.key)
            request.expires = .after(60_000)
            guard case .added(let item) = try keychain.handler.handle(.makeKey(request), from: caller) else {
                throw keychain.handler.wrongReply
            }
            #expect(try use(keychain, item.persistentReference, .sign(digest: digest)).count == 64)
            keychain.clock.advance(by: 61)
            expectFails(.itemNotFound) { try use(keychain, item.persistentReference, .sign(digest: digest)) }
        }
    }

    @Test("Not even its public half stands in a file of the store")
    func atRest() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            let engine = try store.open()
            var request = AddRequest(.key)
            request.attributes = [.label: .text("L")]
            guard case .added(let item) = try engine.handle(.makeKey(request), from: caller),
                case .data(let point)? = item.attributes[.tokenObjectID]
            else { throw engine.wrongReply }
            for (name, bytes) in try store.contents {
                #expect(bytes.range(of: point.dropFirst().prefix(16)) == nil, "\(name)")
            }
        }
    }

    @Test("A row of an earlier version that only names the token is an ordinary one, with its bytes")
    func formerRow() {
        func isKept(_ attributes: AttributeSet) -> Bool {
            Item(
                itemClass: .key, identifier: UUID(), attributes: attributes, accessGroup: "G", synchronizable: false,
                accessControl: AccessControl(.whenUnlocked), created: 0, modified: 0
            ).isKeptInEngine
        }
        #expect(!isKept([.tokenID: .text(Item.engineToken)]))
        #expect(isKept([.tokenID: .text(Item.engineToken), .tokenObjectID: .data(Data(count: 65))]))
    }
}
