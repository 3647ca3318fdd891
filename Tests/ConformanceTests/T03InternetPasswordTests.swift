import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T3: the life of an internet password.
struct T03InternetPasswordTests {
    private let item = Fixtures.internet
    private let moved = Fixtures.internet.with([kSecAttrServer: "www.example"])

    @Test("T3.1 T3.2 An internet password is added once and found by all that it has", arguments: KeychainHost.everyHost)
    func addsOnceAndFinds(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .add(item, .duplicate),
                .find(item.query, .success),
                .find(item.query.with([kSecReturnData: true]), .data(bytes("walnut"))),
                .find(item.query.with([kSecAttrPort: 443]), .notFound),
            ])
    }

    @Test("T3.3 The attributes that a search returns find the same item again", arguments: KeychainHost.everyHost)
    func returnedAttributesAreAQuery(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.run([.add(item, .success), .add(moved, .success)])
            let found = try attributes(of: item.query.with([kSecMatchLimit: kSecMatchLimitOne]))
            var query: Item = [kSecClass: kSecClassInternetPassword, kSecReturnData: true]
            for (key, value) in found where key != Code.digest as String { query[key as CFString] = value }
            keychain.run([
                .find(query, .data(bytes("walnut"))),
                .find(query.with([kSecMatchLimit: kSecMatchLimitAll]), .array(of: 1)),
            ])
        }
    }

    @Test(
        "T3.4 T3.5 T3.6 A renamed internet password is no longer under its old name, which is free again",
        arguments: KeychainHost.everyHost)
    func renamingFreesTheOldName(host: KeychainHost) throws {
        let rename: Item = [kSecAttrServer: "www.example"]
        try table(
            host,
            [
                .add(item, .success),
                .update(item.query, rename, .success),
                .update(item.query, rename, .notFound),
                .delete(item.query, .notFound),
                .add(item, .success),
                .delete(item.query, .success),
                .add(item, .success),
                .find(moved.query.with([kSecReturnData: true]), .data(bytes("walnut"))),
            ])
    }

    @Test(
        "T3.7 T3.8 Renaming onto an existing internet password is refused, and both stay as they were",
        arguments: KeychainHost.everyHost)
    func renamingOntoAnotherIsRefused(host: KeychainHost) throws {
        let server: Item = [kSecClass: kSecClassInternetPassword, kSecAttrServer: "www.example"]
        let rename: Item = [kSecAttrServer: "www.example", kSecValueData: bytes("lost")]
        try table(
            host,
            [
                .add(item, .success),
                .add(moved.with([kSecValueData: bytes("chestnut")]), .success),
                .update(item.query, rename, .duplicate),
                .find(item.query.with([kSecReturnData: true]), .data(bytes("walnut"))),
                .find(moved.query.with([kSecReturnData: true]), .data(bytes("chestnut"))),
                .delete(item.query, .success),
                .delete(server, .success),
                .find([kSecClass: kSecClassInternetPassword], .notFound),
            ])
    }

    @Test(
        "T3.9 Each attribute of the unique name alone makes an internet password distinct",
        arguments: KeychainHost.everyHost)
    func everyNamingAttributeIsDistinct(host: KeychainHost) throws {
        let variants: [Item] = [
            [kSecAttrSecurityDomain: "realm"],
            [kSecAttrPath: "/path"],
            [kSecAttrPort: 8080],
            [kSecAttrProtocol: kSecAttrProtocolHTTPS],
            [kSecAttrAuthenticationType: kSecAttrAuthenticationTypeNTLM],
            [kSecAttrAccount: "jones"],
            [kSecAttrServer: "www.example"],
        ]
        let additions = variants.flatMap { variant -> [Row] in
            [.add(item.with(variant), .success), .add(item.with(variant), .duplicate)]
        }
        let all: Item = [kSecClass: kSecClassInternetPassword, kSecMatchLimit: kSecMatchLimitAll]
        try table(
            host,
            [.add(item, .success)] + additions + [
                .add(item.with([kSecAttrComment: "no name"]), .duplicate),
                .find(all.with([kSecReturnPersistentRef: true]), .array(of: variants.count + 1)),
            ])
    }
}
