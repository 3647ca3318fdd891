import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T16: dictionaries that make no sense.
struct T16BadInputTests {
    private let item = Fixtures.generic

    /// The four calls with the same addition to their dictionaries, and the same answer.
    private func everyCall(
        with keys: Item, _ outcome: Outcome, at location: SourceLocation = #_sourceLocation
    ) -> [Row] {
        [
            .add(item.with([kSecAttrAccount: "b"]).with(keys), outcome, at: location),
            .find(item.query.with(keys), outcome, at: location),
            .update(item.query.with(keys), [kSecAttrLabel: "new"], outcome, at: location),
            .delete(item.query.with(keys), outcome, at: location),
        ]
    }

    /// The rows between an add and the proof that they have changed nothing.
    private func harmless(_ host: KeychainHost, _ rows: [Row]) throws {
        let all: Item = [
            kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
        ]
        try table(host, [.add(item, .success)] + rows + [.find(all, .data(inAnyOrder: [Fixtures.secret]))])
    }

    @Test("T16.1 A class that does not exist is refused", arguments: KeychainHost.everyHost)
    func unknownClass(host: KeychainHost) throws {
        let classes: [CFString] = ["what", "apls", ""]
        try harmless(host, classes.flatMap { everyCall(with: [kSecClass: $0], .noSuchClass) })
    }

    @Test("T16.2 A dictionary without a class is refused", arguments: KeychainHost.everyHost)
    func noClass(host: KeychainHost) throws {
        let bare = item.without(kSecClass)
        try harmless(
            host,
            [
                .add(bare, .parameter),
                .find(bare.query, .parameter),
                .update(bare.query, [kSecAttrLabel: "new"], .parameter),
                .delete(bare.query, .parameter),
                .find([:], .parameter),
            ])
    }

    @Test("T16.3 An attribute that the class does not have is refused", arguments: KeychainHost.everyHost)
    func unknownAttribute(host: KeychainHost) throws {
        let unknown: [Item] = [["zzzz": "x"], [kSecAttrServer: "x"], [kSecAttrKeyType: kSecAttrKeyTypeRSA, "zzzz": 1]]
        let refusals = unknown.dropLast().flatMap { everyCall(with: $0, .noSuchAttribute) }
        let changes = unknown.map { Row.update(item.query, $0, .noSuchAttribute) }
        try harmless(host, refusals + changes)
    }

    @Test("T16.4 Unknown options, returns, values and other keys are refused", arguments: KeychainHost.everyHost)
    func unknownKeys(host: KeychainHost) throws {
        let keys: [CFString] = ["u_Foo", "r_Foo", "v_Foo", "c_Foo", "x", "", "something else"]
        try harmless(host, keys.flatMap { everyCall(with: [$0: true], .parameter) })
    }

    @Test("T16.5 An unknown match key is ignored by a search", arguments: KeychainHost.everyHost)
    func unknownMatchKey(host: KeychainHost) throws {
        let query = item.query.with(["m_Foo": "x", kSecReturnData: true])
        try harmless(host, [.find(query, .data(Fixtures.secret))])
    }

    @Test("T16.6 The mark of app clips is refused everywhere", arguments: KeychainHost.everyHost)
    func appClipMark(host: KeychainHost) throws {
        let clip: Item = [Code.appClip: 1]
        try harmless(host, everyCall(with: clip, .parameter) + [.update(item.query, clip, .parameter)])
    }

    @Test("T16.7 A list of items to use is refused", arguments: KeychainHost.everyHost)
    func useItemList(host: KeychainHost) throws {
        try harmless(host, everyCall(with: [kSecUseItemList: [Data()]], .parameter))
    }

    @Test("T16.8 T16.9 Issuers and hosts are not asked of generic passwords", arguments: KeychainHost.everyHost)
    func matchesOfOtherClasses(host: KeychainHost) throws {
        try harmless(
            host,
            [
                .find(item.query.with([kSecMatchIssuers: [Fixtures.issuer]]), .unimplemented),
                .find(item.query.with([kSecMatchHostOrSubdomainOfHost: "example"]), .unimplemented),
            ])
    }

    @Test("T16.10 A date of validity is ignored for what has none", arguments: KeychainHost.everyHost)
    func validityOfPasswords(host: KeychainHost) throws {
        let data = item.query.with([kSecReturnData: true])
        try harmless(
            host,
            [
                .find(data.with([kSecMatchValidOnDate: Date(timeIntervalSince1970: 0)]), .data(Fixtures.secret)),
                .find(data.with([kSecMatchValidOnDate: NSNull()]), .data(Fixtures.secret)),
            ])
    }

    @Test("T16.11 A dictionary of two hundred keys is refused", arguments: KeychainHost.everyHost)
    func tooManyKeys(host: KeychainHost) throws {
        func unknown(_ count: Int) -> Item {
            Item(uniqueKeysWithValues: (0..<count).map { (CFString(string: "m_Foo\($0)"), 1 as Any) })
        }
        try harmless(
            host,
            [
                .find(item.query.with(unknown(200)), .parameter),
                .find(item.query.with(unknown(20)), .success),
            ])
    }
}
