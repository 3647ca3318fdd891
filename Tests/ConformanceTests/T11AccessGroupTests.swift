import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T11: who sees which item.
struct T11AccessGroupTests {
    private let item = Fixtures.generic
    private let changes: Item = [kSecAttrLabel: "new"]

    private func inGroup(_ group: String) -> Item { [kSecAttrAccessGroup: group] }

    /// The four calls on one item, each with the same answer.
    private func everyCall(_ item: Item, _ outcome: Outcome, at location: SourceLocation = #_sourceLocation) -> [Row] {
        [
            .add(item, outcome, at: location),
            .find(item.query.with([kSecReturnData: true]), outcome, at: location),
            .update(item.query, changes, outcome, at: location),
            .delete(item.query, outcome, at: location),
        ]
    }

    @Test("T11.1 A caller without groups is refused everything", arguments: KeychainHost.everyHost)
    func noGroups(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .asCaller([], everyCall(item, .missingEntitlement)),
                .asCaller([], everyCall(item.with(inGroup("G1")), .missingEntitlement)),
                .find(item.query.with([kSecReturnData: true]), .data(Fixtures.secret)),
            ])
    }

    @Test("T11.2 A group that is not among the caller's is refused in every call", arguments: KeychainHost.everyHost)
    func foreignGroup(host: KeychainHost) throws {
        try table(
            host,
            [
                .asCaller(["G3"], [.add(item, .success)]),
                .add(item, .success),
            ] + everyCall(item.with(inGroup("G3")), .missingEntitlement) + [
                .asCaller(["G3"], [.find(item.query.with([kSecReturnData: true]), .data(Fixtures.secret))])
            ])
    }

    @Test(
        "T11.3 An item in another's group is not there for a caller who names no group",
        arguments: KeychainHost.everyHost)
    func otherGroupsAreInvisible(host: KeychainHost) throws {
        let hidden = item.with(inGroup("G2"))
        let all = item.query.with([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])
        try table(
            host,
            [
                .add(hidden, .success),
                .asCaller(
                    ["G1"],
                    [
                        .find(item.query.with([kSecReturnData: true]), .notFound),
                        .find(all, .notFound),
                        .update(item.query, changes, .notFound),
                        .delete(item.query, .notFound),
                        .add(item, .success),
                        .find(all, .array(of: 1)),
                    ]),
                .find(hidden.query.with([kSecReturnData: true]), .data(Fixtures.secret)),
                .find(hidden.query.with(changes), .notFound),
            ])
    }

    @Test("T11.3 A persistent reference opens no other group", arguments: KeychainHost.everyHost)
    func referenceOpensNoGroup(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let query: Item = [kSecValuePersistentRef: try reference(adding: item.with(inGroup("G2")))]
            keychain.run([
                .asCaller(
                    ["G1"],
                    [
                        .find(query.with([kSecReturnData: true]), .notFound),
                        .update(query, changes, .notFound),
                        .delete(query, .notFound),
                    ]),
                .find(query.with([kSecReturnData: true]), .data(Fixtures.secret)),
            ])
        }
    }

    @Test("T11.4 An item goes to the group it names, else to the caller's first", arguments: KeychainHost.everyHost)
    func firstGroupIsTheDefault(host: KeychainHost) throws {
        let other = item.with([kSecAttrAccount: "b"]).with(inGroup("G2"))
        try table(
            host,
            [
                .add(item.with([kSecReturnAttributes: true]), .dictionary(inGroup("G1"))),
                .find(item.query.with(inGroup("G1")), .success),
                .find(item.query.with(inGroup("G2")), .notFound),
                .add(other.with([kSecReturnAttributes: true]), .dictionary(inGroup("G2"))),
                .asCaller(["G2", "G1"], [.add(item.with([kSecReturnAttributes: true]), .dictionary(inGroup("G2")))]),
            ])
    }

    @Test("T11.5 A caller who names no group sees the items of all of its groups", arguments: KeychainHost.everyHost)
    func seesAllItsGroups(host: KeychainHost) throws {
        let all = item.query.with([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])
        let second = item.with([kSecAttrAccessGroup: "G2", kSecValueData: bytes("q")])
        try table(
            host,
            [
                .add(second, .success),
                .find(item.query.with([kSecReturnData: true]), .data(bytes("q"))),
                .add(item, .success),
                .find(all, .data(inAnyOrder: [Fixtures.secret, bytes("q")])),
                .find(all.with(inGroup("G2")), .data(inAnyOrder: [bytes("q")])),
            ])
    }

    @Test(
        "T11.6 T11.7 An update moves an item to another group, if it is one of the caller's",
        arguments: KeychainHost.everyHost)
    func updateMovesToAGroup(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .update(item.query.with(inGroup("G1")), inGroup("G2"), .success),
                .find(item.query.with(inGroup("G1")), .notFound),
                .find(item.query.with(inGroup("G2")).with([kSecReturnData: true]), .data(Fixtures.secret)),
                .update(item.query, inGroup("G3"), .missingEntitlement),
                .find(item.query.with(inGroup("G2")), .success),
                .asCaller(["G1"], [.find(item.query, .notFound)]),
                .asCaller(["G3"], [.find(item.query, .notFound)]),
            ])
    }

    @Test("T11.7 An identity does not move to a group that is not the caller's", arguments: KeychainHost.everyHost)
    func identityStaysAmongTheCallersGroups(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(Fixtures.certificate, .success),
                .add(Fixtures.privateKey, .success),
                .update(Fixtures.identity, inGroup("G3"), .missingEntitlement),
                .find(Fixtures.identity.with(inGroup("G1")), .success),
                .asCaller(["G3"], [.find(Fixtures.identity, .notFound)]),
            ])
    }

    @Test("T11.8 An item does not move onto an equal one in another group", arguments: KeychainHost.everyHost)
    func moveOntoAnEqualIsRefused(host: KeychainHost) throws {
        let second = item.with([kSecAttrAccessGroup: "G2", kSecValueData: bytes("q")])
        try table(
            host,
            [
                .add(item, .success),
                .add(second, .success),
                .update(item.query.with(inGroup("G1")), inGroup("G2"), .duplicate),
                .find(item.query.with(inGroup("G1")).with([kSecReturnData: true]), .data(Fixtures.secret)),
                .find(second.query.with([kSecReturnData: true]), .data(bytes("q"))),
            ])
    }

    @Test("T11.10 The group of tokens is read and never written", arguments: KeychainHost.everyHost)
    func tokenGroupIsReadOnly(host: KeychainHost) throws {
        let token = inGroup("com.apple.token")
        let callers = ["com.apple.token", "G1"]
        try table(
            host,
            [
                .asCaller(
                    callers,
                    [
                        .find(item.query.with(token), .notFound),
                        .add(item.with(token), .missingEntitlement),
                        .update(item.query.with(token), changes, .missingEntitlement),
                        .delete(item.query.with(token), .missingEntitlement),
                        .add(item.with([kSecReturnAttributes: true]), .dictionary(inGroup("G1"))),
                        .update(item.query, token, .missingEntitlement),
                        .find(item.query.with(inGroup("G1")), .success),
                    ]),
                .asCaller(
                    ["com.apple.token"],
                    [
                        .find(item.query, .notFound),
                        .add(item, .missingEntitlement),
                    ]),
            ])
    }

    /// Items of each class, the two halves of an identity among them, with the same names in the caller's group and in
    /// another one.
    private func twice(_ rows: [Row]) -> [Row] {
        let all = Fixtures.everyStored
        return [.asCaller(["G3"], all.map { .add($0, .success) })] + all.map { .add($0, .success) } + rows
            + [.asCaller(["G3"], all.map { .find($0.query.with([kSecReturnData: true]), .data($0.secret)) })]
    }

    @Test("T11.13 A program deletes nothing that is not its own, by no query", arguments: KeychainHost.everyHost)
    func deletesNothingOfOthers(host: KeychainHost) throws {
        let classes = Fixtures.everyClass.map { name -> Item in [kSecClass: name] }
        try table(
            host,
            twice(
                Fixtures.everyStored.flatMap { item -> [Row] in
                    [
                        .delete(item.query.with(inGroup("G3")), .missingEntitlement),
                        .delete(item.query, .success), .delete(item.query, .notFound),
                    ]
                } + classes.map { .delete($0, .notFound) }))
        // A locked item, which no key opens meanwhile, is deleted by its group too.
        try table(
            host,
            [.setPasscode("1234")]
                + twice([.lock()] + [item, Fixtures.internet].map { .delete($0.query, .success) }
                    + [item, Fixtures.internet].map { .delete($0.query, .notFound) } + [.unlock("1234")]))
    }

    @Test("T11.14 A program reads nothing that is not its own, by no query", arguments: KeychainHost.everyHost)
    func readsNothingOfOthers(host: KeychainHost) throws {
        let all: Item = [kSecMatchLimit: kSecMatchLimitAll]
        try table(
            host,
            twice(
                Fixtures.everyStored.flatMap { item -> [Row] in
                    [
                        .find(item.query.with(all).with([kSecReturnData: true]), .data(inAnyOrder: [item.secret])),
                        .find(item.query.with(all).with([kSecReturnAttributes: true]), .array(of: 1)),
                        .find(item.query.with(all).with([kSecReturnPersistentRef: true]), .array(of: 1)),
                        .find(item.query.with(inGroup("G3")), .missingEntitlement),
                    ]
                } + [
                    .find(Fixtures.identity.with(all).with([kSecReturnAttributes: true]), .array(of: 1)),
                    // Half of an identity is not joined with another program's half.
                    .delete(Fixtures.certificate.query, .success), .find(Fixtures.identity.with(all), .notFound),
                    .add(Fixtures.certificate, .success), .delete(Fixtures.privateKey.query, .success),
                    .find(Fixtures.identity.with(all), .notFound),
                ]))
    }

    @Test("T11.15 A program changes nothing that is not its own, by no query", arguments: KeychainHost.everyHost)
    func changesNothingOfOthers(host: KeychainHost) throws {
        let secret: Item = [kSecValueData: bytes("changed")]
        try table(
            host,
            twice(
                Fixtures.everyStored.flatMap { item -> [Row] in
                    [
                        .update(item.query.with(inGroup("G3")), secret, .missingEntitlement),
                        .update(item.query, inGroup("G3"), .missingEntitlement),
                        .add(item.with(inGroup("G3")), .missingEntitlement),
                        .update(item.query, secret, .success), .add(item, .duplicate),
                        .update(item.query, inGroup("G2"), .success), .add(item, .success),
                    ]
                } + [.update(Fixtures.identity, inGroup("G3"), .missingEntitlement)]))
    }
}

extension Item {
    fileprivate var secret: Data { self[kSecValueData] as! Data }
}
