import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Whatever is stored comes back byte for byte, and is found by the very same bytes and by no others.
///
/// A failure tells the seed; `KEYCHAIN_TEST_SEED` repeats the run.
@Suite struct AnyBytesTests {
    private static let classes: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]

    @Test(
        "Any values of all attributes come back, and each of them finds the item", arguments: classes,
        KeychainHost.carriers)
    func attributes(itemClass: ItemClass, host: KeychainHost) throws {
        var source = AnyBytes()
        let seed = source.generator.seed
        try withKeychain(host, groups: ["G"]) { keychain in
            for number in 0..<Effort.count(15, full: 60) {
                let comment: Comment = "seed \(seed), item \(number) of \(itemClass)"
                let request = request(itemClass, &source)
                let added: Item
                do {
                    added = try keychain.handler.add(request)
                } catch let error as KeychainError where error.code == .duplicateItem {
                    // Two draws of the same few values; then the other one is there.
                    continue
                }
                try expect(request.attributes, request.secret, for: added, in: keychain.handler, comment)
                var changes = ItemChanges()
                let other = self.request(itemClass, &source)
                changes.attributes = other.attributes
                changes.secret = other.secret
                do {
                    _ = try keychain.handler.handle(
                        .update(UpdateRequest(exact(added), changes: changes)), from: caller)
                } catch let error as KeychainError where error.code == .duplicateItem { continue }
                try expect(other.attributes, other.secret ?? request.secret, for: added, in: keychain.handler, comment)
            }
            #expect(try keychain.handler.findings().isEmpty, "seed \(seed)")
        }
    }

    @Test("Every odd text and every odd bytes are values of their own", arguments: KeychainHost.carriers)
    func everyOddValue(host: KeychainHost) throws {
        try withKeychain(host, groups: ["G"]) { keychain in
            let values =
                AnyBytes.oddTexts.map { AttributeValue.text($0) } + AnyBytes.oddBytes.map { AttributeValue.data($0) }
            // A text and the data of its bytes are one value to a search.
            var distinct: [AttributeValue] = []
            for value in values where !distinct.contains(where: { $0.matches(value) }) { distinct.append(value) }
            for (number, value) in distinct.enumerated() {
                var request = AddRequest(.genericPassword)
                request.attributes = [.account: value, .label: value, .service: .text("\(number)")]
                request.secret = .of("\(number)")
                try keychain.handler.add(request)
                try keychain.handler.add(request.with(.service, value))
            }
            for (number, value) in distinct.enumerated() {
                for attributes: AttributeSet in [
                    [.account: value, .service: .text("\(number)")], [.label: value, .service: value],
                ] {
                    let found = try keychain.handler.find(.password(attributes, limit: .all))
                    #expect(found.count == 1 && found[0].secret?.copyData() == Data("\(number)".utf8), "\(number)")
                    #expect(found.first?.attributes[.account]?.isIdentical(to: value) == true, "\(number)")
                }
            }
        }
    }

    @Test("Texts that look alike are different accounts", arguments: KeychainHost.carriers)
    func canonicallyEquivalent(host: KeychainHost) throws {
        try withKeychain(host, groups: ["G"]) { keychain in
            let spellings = ["\u{e9}", "e\u{301}"]
            // The control: to Swift they are equal.
            #expect(spellings[0] == spellings[1])
            for spelling in spellings {
                try keychain.handler.add(.password(spelling, secret: "\(spelling.utf8.count)"))
            }
            for spelling in spellings {
                #expect(try keychain.handler.secret(of: spelling) == "\(spelling.utf8.count)")
            }
            #expect(try keychain.handler.find(.password(limit: .all)).count == 2)
        }
    }

    @Test("Groups whose names look alike are different groups", arguments: [false, true], KeychainHost.carriers)
    func groupsThatLookAlike(warm: Bool, host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let engine = keychain.engine
            let callers = ["caf\u{e9}", "cafe\u{301}"].map { Caller(groups: [$0]) }
            #expect(callers[0] != callers[1])
            try engine.add(.password("ann", secret: "first"), as: callers[0])
            // So that what the process remembers of the first group is there when the second one is looked for.
            if warm { #expect(try engine.secret(of: "ann", as: callers[0]) == "first") }
            let error = #expect(throws: KeychainError.self) { try engine.secret(of: "ann", as: callers[1]) }
            #expect(error?.code == .itemNotFound)
            var query = ItemQuery.password()
            query.accessGroup = "caf\u{e9}"
            let refusal = #expect(throws: KeychainError.self) { try engine.find(query, as: callers[1]) }
            #expect(refusal?.code == .missingEntitlement)
            let foreign = #expect(throws: KeychainError.self) {
                try engine.add(.password("bob", group: "caf\u{e9}"), as: callers[1])
            }
            #expect(foreign?.code == .missingEntitlement)
            try engine.add(.password("ann", secret: "second"), as: callers[1])
            #expect(try engine.secret(of: "ann", as: callers[0]) == "first")
            #expect(try engine.secret(of: "ann", as: callers[1]) == "second")
            let both = Caller(groups: callers.flatMap(\.groups))
            #expect(try engine.find(.password(limit: .all), as: both).count == 2)
            for caller in callers { _ = try engine.handle(.delete(.password()), from: caller) }
        }
    }

    @Test("A reference, a group and a date find exactly the item", arguments: [0, 1, 2], KeychainHost.carriers)
    func otherWays(round: Int, host: KeychainHost) throws {
        var source = AnyBytes()
        let group = "group \(source.text())"
        try withKeychain(host) { keychain in
            let owner = Caller(groups: ["other", group])
            var request = AddRequest.password("ann")
            request.accessGroup = group
            let added = try keychain.handler.add(request, as: owner)
            #expect(added.accessGroup.utf8.elementsEqual(group.utf8), "seed \(source.generator.seed)")
            var query = ItemQuery.password()
            query.accessGroup = group
            query.created = added.created
            let found = try keychain.handler.find(query, as: owner)
            #expect(found.map(\.identifier) == [added.identifier], "seed \(source.generator.seed)")
            #expect(found[0].accessGroup.utf8.elementsEqual(group.utf8))
        }
    }

    @Test("Secrets of any size up to 20 MB come back", arguments: [1, 2, 5, 7, 10, 15, 20], KeychainHost.carriers)
    func largeSecrets(megabytes: Int, host: KeychainHost) throws {
        var generator = SeededGenerator()
        let block = generator.bytes(1 << 16) + Data([0, 0x0a, 0xff])
        var secret = Data(capacity: megabytes << 20)
        while secret.count < megabytes << 20 { secret.append(block) }
        try withKeychain(host, groups: ["G"]) { keychain in
            var request = AddRequest.password("ann", secret: nil)
            request.secret = SecretBytes(copying: secret)
            try keychain.handler.add(request)
            let found = try keychain.handler.find(.password()).first?.secret?.copyData()
            #expect(found == secret, "seed \(generator.seed)")
        }
    }

    @Test(
        "A label of a megabyte comes back and is searched for",
        arguments: Effort.isFull ? [1 << 20, 5 << 20] : [1 << 20], KeychainHost.carriers)
    func largeLabel(size: Int, host: KeychainHost) throws {
        var source = AnyBytes()
        let bytes = source.generator.bytes(size)
        let text = String(repeating: "e\u{301}\u{0}", count: size / 4)
        try withKeychain(host, groups: ["G"]) { keychain in
            for label: AttributeValue in [.data(bytes), .text(text)] {
                try keychain.handler.add(.password("\(label.isData)").with(.label, label))
                let found = try keychain.handler.find(.password([.label: label]))
                #expect(found.count == 1 && found[0].attributes[.label]?.isIdentical(to: label) == true)
            }
            // One byte less is another label.
            #expect(throws: KeychainError.self) {
                try keychain.handler.find(.password([.label: .data(bytes.dropLast())]))
            }
            var changes = ItemChanges()
            changes.attributes = [.label: .data(bytes.dropFirst())]
            let query = ItemQuery.password([.label: .data(bytes)])
            _ = try keychain.handler.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
            #expect(throws: KeychainError.self) { try keychain.handler.find(query) }
            #expect(try keychain.handler.find(.password(changes.attributes)).count == 1)
        }
    }
}

// MARK: - Items

extension AnyBytesTests {
    /// An item with about every second attribute that its class has.
    private func request(_ itemClass: ItemClass, _ source: inout AnyBytes) -> AddRequest {
        var request = AddRequest(itemClass)
        for rule in AttributeTable.table(for: itemClass).rules
        where rule.attribute != .tokenID && rule.attribute != .tokenObjectID && source.generator.below(2) == 0 {
            request.attributes[rule.attribute] = source.value(of: rule.kind)
        }
        if source.generator.below(5) > 0 { request.secret = SecretBytes(copying: source.data()) }
        return request
    }

    private func exact(_ item: Item) -> ItemQuery {
        var query = ItemQuery(item.itemClass)
        query.persistentReference = item.persistentReference
        return query
    }

    private func expect(
        _ attributes: AttributeSet, _ secret: SecretBytes?, for item: Item, in engine: any RequestHandler,
        _ comment: Comment
    ) throws {
        let found = try #require(try engine.find(exact(item)).first, comment)
        #expect(found.secret?.copyData() == secret?.copyData(), comment)
        for (attribute, value) in attributes.entries {
            #expect(found.attributes[attribute]?.isIdentical(to: value) == true, "\(attribute), \(comment)")
            var query = ItemQuery(item.itemClass)
            query.attributes = [attribute: value]
            query.limit = .all
            #expect(
                try engine.find(query, secrets: false).contains { $0.identifier == item.identifier },
                "\(attribute), \(comment)")
        }
        var query = ItemQuery(item.itemClass)
        query.attributes = attributes
        query.limit = .all
        #expect(try engine.find(query).contains { $0.identifier == item.identifier }, comment)
    }
}

extension AddRequest {
    fileprivate func with(_ attribute: Attribute, _ value: AttributeValue) -> AddRequest {
        var request = self
        request.attributes[attribute] = value
        return request
    }
}

extension AttributeValue {
    fileprivate var isData: Bool { if case .data = self { true } else { false } }
}
