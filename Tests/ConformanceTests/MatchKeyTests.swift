import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// C.7 to C.10: the match keys beyond the limit.
struct MatchKeyTests {
    private func query(_ name: CFString, _ key: CFString, _ value: Any) -> Item {
        [kSecClass: name, key: value]
    }

    @Test(
        "C.7 Policies, trust, issuers and mail addresses are refused aloud for what is no certificate",
        arguments: KeychainHost.everyHost)
    func needsCertificate(host: KeychainHost) throws {
        let rows =
            [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassKey].flatMap { name -> [Row] in
                [
                    .find(query(name, kSecMatchPolicy, SecPolicyCreateBasicX509()), .unimplemented),
                    .find(query(name, kSecMatchTrustedOnly, true), .unimplemented),
                    .find(query(name, kSecMatchIssuers, [Fixtures.issuer]), .unimplemented),
                    .find(query(name, kSecMatchEmailAddressIfPresent, "a@example"), .unimplemented),
                ]
            }
        try table(host, Fixtures.everyStored.map { Row.add($0, .success) } + rows)
    }

    @Test(
        "C.8 A date of validity is a date or nothing, and what is no certificate is valid at none",
        arguments: KeychainHost.everyHost)
    func validity(host: KeychainHost) throws {
        let date = Date(timeIntervalSince1970: 0)
        let classes = [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassKey]
        let ignored = classes.flatMap { name -> [Row] in
            [
                .find(query(name, kSecMatchValidOnDate, date), .success),
                .find(query(name, kSecMatchValidOnDate, NSNull()), .success),
                .find(query(name, kSecMatchValidOnDate, "today"), .parameter),
            ]
        }
        try table(
            host,
            Fixtures.everyStored.map { Row.add($0, .success) } + ignored + [
                .find(query(kSecClassCertificate, kSecMatchValidOnDate, date), .notFound),
                .find(query(kSecClassIdentity, kSecMatchValidOnDate, date), .notFound),
            ])
    }

    @Test("C.9 What Apple's keychain ignores in silence is refused aloud", arguments: KeychainHost.everyHost)
    func ignoredKeysAreRefused(host: KeychainHost) throws {
        let keys: Item = [
            kSecMatchSubjectContains: "leaf", kSecMatchCaseInsensitive: true, kSecMatchItemList: [Data()],
            kSecMatchSearchList: [Data()],
        ]
        let rows = keys.map { Row.find(query(kSecClassGenericPassword, $0.key, $0.value), .unimplemented) }
        try table(host, [.add(Fixtures.generic, .success)] + rows)
    }

    @Test("C.10 A host finds the passwords of the server and of those below it", arguments: KeychainHost.everyHost)
    func hosts(host: KeychainHost) throws {
        func matching(_ name: Any) -> Item {
            query(kSecClassInternetPassword, kSecMatchHostOrSubdomainOfHost, name)
                .with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])
        }
        let servers = ["a.example", "b.a.example", "xa.example", "example"]
        let additions = servers.map { server in
            Row.add(Fixtures.internet.with([kSecAttrServer: server, kSecValueData: bytes(server)]), .success)
        }
        let noText = Fixtures.internet.with([kSecAttrServer: bytes("a.example"), kSecAttrPort: 1])
        try table(
            host,
            additions + [
                .add(noText, .success),
                .find(matching("a.example"), .data(inAnyOrder: [bytes("a.example"), bytes("b.a.example")])),
                .find(matching("b.a.example"), .data(inAnyOrder: [bytes("b.a.example")])),
                .find(matching("example"), .data(inAnyOrder: servers.map(bytes))),
                .find(matching("other.example"), .notFound),
                .find(matching(1), .parameter),
                .find(
                    query(kSecClassCertificate, kSecMatchHostOrSubdomainOfHost, "example"), .unimplemented),
            ])
    }

    @Test("C.10 A limit counts the items that match, not the ones looked at", arguments: KeychainHost.everyHost)
    func limitCountsMatches(host: KeychainHost) throws {
        let additions = (0..<5).map { index in
            Row.add(Fixtures.internet.with([kSecAttrServer: "\(index).example"]), .success)
        }
        let wanted = query(kSecClassInternetPassword, kSecMatchHostOrSubdomainOfHost, "z.example")
        let last = Fixtures.internet.with([kSecAttrServer: "z.example", kSecValueData: bytes("z")])
        try table(
            host,
            additions + [
                .add(last, .success),
                .find(wanted.with([kSecReturnData: true]), .data(bytes("z"))),
                .find(wanted.with([kSecReturnData: true, kSecMatchLimit: 2]), .data(inAnyOrder: [bytes("z")])),
            ])
    }
}
