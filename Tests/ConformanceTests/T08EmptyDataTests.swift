import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T8: items that hold no data.
struct T08EmptyDataTests {
    private let item = Fixtures.generic.query

    @Test("T8.1 T8.2 An item without data is added, and has no value for it", arguments: KeychainHost.everyHost)
    func itemWithoutData(host: KeychainHost) throws {
        let query = item.with([
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true, kSecReturnAttributes: true,
        ])
        let names: Item = [kSecAttrService: "s", kSecAttrAccount: "a"]
        try table(
            host,
            [
                .add(item, .success),
                .find(query, .dictionaryInArray(names, without: [kSecValueData])),
                .add(Fixtures.internet.query, .success),
                .find(
                    query.with([kSecClass: kSecClassInternetPassword]).without(kSecAttrService, kSecAttrAccount),
                    .dictionaryInArray([kSecAttrServer: "members.example"], without: [kSecValueData])),
            ])
    }

    @Test("T8.3 A search for data alone that are not there succeeds with nothing", arguments: KeychainHost.everyHost)
    func dataAloneIsNothing(host: KeychainHost) throws {
        let data = item.with([kSecReturnData: true])
        try table(
            host,
            [
                .add(item, .success),
                .find(data, .nothing),
                .find(data.with([kSecMatchLimit: kSecMatchLimitAll]), .array(of: 0)),
                .add(item.with([kSecAttrAccount: "b", kSecValueData: Fixtures.secret]), .success),
                .find(
                    data.with([kSecMatchLimit: kSecMatchLimitAll]).without(kSecAttrAccount),
                    .data(inAnyOrder: [Fixtures.secret])),
            ])
    }

    @Test("T8.4 An add without data that asks for them returns empty data", arguments: KeychainHost.everyHost)
    func addReturnsEmptyData(host: KeychainHost) throws {
        try table(host, [.add(item.with([kSecReturnData: true]), .data(Data()))])
    }

    @Test("C.18 Empty data are data", arguments: KeychainHost.everyHost)
    func emptyDataAreData(host: KeychainHost) throws {
        let several: Item = [kSecReturnData: true, kSecReturnAttributes: true]
        try table(
            host,
            [
                .add(item.with([kSecValueData: Data()]), .success),
                .find(item.with([kSecReturnData: true]), .data(Data())),
                .find(item.with(several), .dictionary([kSecValueData: Data()])),
                .update(item, [kSecValueData: Fixtures.secret], .success),
                .update(item, [kSecValueData: Data()], .success),
                .find(item.with([kSecReturnData: true]), .data(Data())),
            ])
    }
}
