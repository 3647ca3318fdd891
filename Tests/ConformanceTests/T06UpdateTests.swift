import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T6: what an update may change, and what stays.
struct T06UpdateTests {
    private let item = Fixtures.generic
    private var secret: Item { item.query.with([kSecReturnData: true]) }

    @Test("T6.1 An update replaces the secret", arguments: KeychainHost.everyHost)
    func replacesSecret(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .update(item.query, [kSecValueData: bytes("p2")], .success),
                .find(secret, .data(bytes("p2"))),
                .update(item.query, [kSecAttrLabel: "label alone"], .success),
                .find(secret, .data(bytes("p2"))),
            ])
    }

    @Test("T6.2 T6.3 A secret that is not data is refused, and the old one stays", arguments: KeychainHost.everyHost)
    func secretIsData(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .update(item.query, [kSecValueData: "text"], .parameter),
                .update(item.query, [kSecValueData: NSNull()], .parameter),
                .update(item.query, [kSecAttrLabel: "new", kSecValueData: 1], .parameter),
                .find(secret, .data(Fixtures.secret)),
                .find(item.query.with([kSecAttrLabel: "new"]), .notFound),
            ])
    }

    @Test("T6.4 T6.5 The changes hold attributes of the class and the secret alone", arguments: KeychainHost.everyHost)
    func changesAreAttributes(host: KeychainHost) throws {
        let misplaced: [Item] = [
            [kSecClass: kSecClassGenericPassword],
            [kSecClass: kSecClassInternetPassword],
            [kSecReturnData: true],
            [kSecMatchLimit: kSecMatchLimitAll],
            [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail],
            [kSecAttrServer: "an internet password's"],
        ]
        let refusals = misplaced.map { Row.update(item.query, $0, .noSuchAttribute) }
        try table(host, [.add(item, .success)] + refusals + [.find(secret, .data(Fixtures.secret))])
    }

    @Test("T6.6 The query of an update asks for no result", arguments: KeychainHost.everyHost)
    func queryAsksForNothing(host: KeychainHost) throws {
        let returns = [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef]
        let changes: Item = [kSecAttrLabel: "new"]
        let refusals = returns.map { Row.update(item.query.with([$0: true]), changes, .parameter) }
        try table(
            host,
            [.add(item, .success)] + refusals + [
                .find(item.query.with(changes), .notFound),
                .update(item.query.with([kSecReturnData: false]), changes, .success),
                .find(item.query.with(changes), .success),
            ])
    }

    @Test("T6.7 A persistent reference outlives updates", arguments: KeychainHost.everyHost)
    func persistentReferenceStays(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let before = try reference(adding: item)
            let renamed = item.with([kSecAttrAccount: "b", kSecAttrAccessGroup: "G2"])
            keychain.run([
                .update(item.query, [kSecValueData: bytes("p2")], .success),
                .find(item.query.with([kSecReturnPersistentRef: true]), .data(before)),
                .update(item.query, [kSecAttrAccount: "b", kSecAttrAccessGroup: "G2"], .success),
                .find(renamed.query.with([kSecReturnPersistentRef: true]), .data(before)),
                .find([kSecValuePersistentRef: before, kSecReturnData: true], .data(bytes("p2"))),
            ])
        }
    }

    @Test("T6.8 An update moves the modification date and not the creation date", arguments: KeychainHost.everyHost)
    func updateMovesModificationDate(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.run([.add(item, .success)])
            let added = try Dates(of: item.query)
            #expect(added.created == added.modified)
            keychain.run([.wait(60), .update(item.query, [kSecAttrLabel: "1"], .success)])
            let later = try Dates(of: item.query)
            #expect(later.created == added.created)
            #expect(later.modified.timeIntervalSince(added.modified) == 60)
            keychain.run([.update(item.query, [kSecAttrLabel: "2"], .success)])
            let atOnce = try Dates(of: item.query)
            #expect(atOnce.created == added.created)
            #expect(atOnce.modified > later.modified)
        }
    }

    @Test("T6.9 An update changes every item that matches", arguments: KeychainHost.everyHost)
    func changesAllMatches(host: KeychainHost) throws {
        let service: Item = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s"]
        let additions = ["a", "b", "c"].map { Row.add(item.with([kSecAttrAccount: $0]), .success) }
        let changes: Item = [kSecAttrLabel: "new", kSecValueData: bytes("p2")]
        try table(
            host,
            additions + [
                .add(item.with([kSecAttrService: "t"]), .success),
                .update(service, changes, .success),
                .find(
                    service.with([kSecAttrLabel: "new", kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]),
                    .data(inAnyOrder: Array(repeating: bytes("p2"), count: 3))),
                .find(item.query.with([kSecAttrService: "t", kSecReturnData: true]), .data(Fixtures.secret)),
            ])
    }

    @Test("T6.10 An update that makes two items equal changes none", arguments: KeychainHost.everyHost)
    func clashChangesNothing(host: KeychainHost) throws {
        let service: Item = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s"]
        let additions = ["a", "b", "c"].map { Row.add(item.with([kSecAttrAccount: $0]), .success) }
        try table(
            host,
            additions + [
                .update(service, [kSecAttrAccount: "same", kSecValueData: bytes("p2")], .duplicate),
                .find(service.with([kSecAttrAccount: "same"]), .notFound),
                .find(
                    service.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]),
                    .data(inAnyOrder: Array(repeating: Fixtures.secret, count: 3))),
            ])
    }
}

private struct Dates {
    let created: Date
    let modified: Date

    init(of query: Item) throws {
        let found = try attributes(of: query)
        created = try #require(found[kSecAttrCreationDate as String] as? Date)
        modified = try #require(found[kSecAttrModificationDate as String] as? Date)
    }
}
