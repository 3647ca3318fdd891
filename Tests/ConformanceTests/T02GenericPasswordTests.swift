import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T2: what makes a generic password distinct, and what does not.
struct T02GenericPasswordTests {
    private let item = Fixtures.generic
    private var secret: Item { item.query.with([kSecReturnData: true]) }

    @Test(
        "T2.1 T2.2 The same generic password is added once, and the first one stays",
        arguments: KeychainHost.everyHost)
    func sameItemIsRefused(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .add(item, .duplicate),
                .add(item.with([kSecValueData: bytes("other")]), .duplicate),
                .find(secret, .data(Fixtures.secret)),
                .find(secret.with([kSecMatchLimit: kSecMatchLimitAll]), .array(of: 1)),
            ])
    }

    @Test(
        "T2.3 T2.4 T2.5 Neither label, protection nor generic attribute makes a generic password distinct",
        arguments: KeychainHost.everyHost)
    func otherAttributesAreNoDistinction(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .add(item.with([kSecAttrLabel: "another"]), .duplicate),
                .add(item.with([kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]), .duplicate),
                .add(item.with([kSecAttrAccessible: kSecAttrAccessibleAlwaysThisDeviceOnly]), .duplicate),
                .add(item.with([kSecAttrGeneric: bytes("g")]), .duplicate),
                .find(item.query.with([kSecReturnAttributes: true]), .dictionary([kSecAttrAccessible: "ak"])),
            ])
    }

    @Test("T2.6 T2.7 Another service, or no account and service, is another item", arguments: KeychainHost.everyHost)
    func otherServiceIsDistinct(host: KeychainHost) throws {
        let bare: Item = [kSecClass: kSecClassGenericPassword]
        try table(
            host,
            [
                .add(item, .success),
                .add(item.with([kSecAttrService: "t"]), .success),
                .add(bare, .success),
                .add(bare, .duplicate),
                .add(bare.with([kSecAttrAccount: "", kSecAttrService: ""]), .duplicate),
                .find(bare.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true]), .array(of: 3)),
            ])
    }

    @Test(
        "T2.8 T2.9 The same account and service may exist once more as synchronizable, and once in every group",
        arguments: KeychainHost.everyHost)
    func synchronizableAndGroupAreDistinct(host: KeychainHost) throws {
        let synced = item.with([kSecAttrSynchronizable: true, kSecValueData: bytes("synced")])
        let inG2 = item.with([kSecAttrAccessGroup: "G2", kSecValueData: bytes("G2")])
        try table(
            host,
            [
                .add(item, .success),
                .add(synced, .success),
                .add(synced, .duplicate),
                .add(inG2, .success),
                .add(inG2, .duplicate),
                .find(synced.query.with([kSecReturnData: true]), .data(bytes("synced"))),
                .find(inG2.query.with([kSecReturnData: true]), .data(bytes("G2"))),
                .find(secret.with([kSecAttrAccessGroup: "G1"]), .data(Fixtures.secret)),
            ])
    }

    @Test(
        "T2.10 T2.11 A generic password is found by its account, and deleted once by account and service",
        arguments: KeychainHost.everyHost)
    func findsByAccountAndDeletesOnce(host: KeychainHost) throws {
        let account: Item = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]
        let neighbour = item.with([kSecAttrService: "t"])
        try table(
            host,
            [
                .add(item, .success),
                .add(neighbour, .success),
                .find(account.with([kSecReturnData: true]), .data(Fixtures.secret)),
                .find(account.with([kSecAttrAccount: "A"]), .notFound),
                .delete(item.query, .success),
                .delete(item.query, .notFound),
                .find(item.query, .notFound),
                .find(neighbour.query, .success),
            ])
    }
}
