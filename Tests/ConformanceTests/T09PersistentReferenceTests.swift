import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T9: a name for one item that outlives its attributes.
struct T09PersistentReferenceTests {
    private let item = Fixtures.internet

    private func query(_ reference: Data) -> Item { [kSecValuePersistentRef: reference] }

    @Test("T9.1 A persistent reference is the class and sixteen bytes", arguments: KeychainHost.everyHost)
    func hasTwentyBytes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let first = try reference(adding: item)
            #expect(first.count == 20)
            #expect(first.starts(with: bytes("inet")))
            keychain.run([.delete(item.query, .success)])
            let second = try reference(adding: item)
            #expect(second != first, "every add draws a new one")
        }
    }

    @Test(
        "T9.2 T9.3 A persistent reference shows what the attributes show, until the item is gone",
        arguments: KeychainHost.everyHost)
    func showsTheSameAttributes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let reference = try reference(adding: item)
            let byName = try attributes(of: item.query)
            let byReference = try attributes(of: query(reference))
            #expect(areEqual(byName, byReference))
            keychain.run([
                .find(query(reference).with([kSecReturnData: true]), .data(bytes("walnut"))),
                .delete(item.query, .success),
                .find(query(reference).with([kSecReturnAttributes: true]), .notFound),
                .find(query(reference), .notFound),
            ])
        }
    }

    @Test(
        "T9.4 T9.5 An update and a delete by persistent reference reach that item alone",
        arguments: KeychainHost.everyHost)
    func reachesOneItem(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let first = try reference(adding: item)
            let second = try reference(adding: item.with([kSecAttrAccount: "jones"]))
            let wanted: Item = [kSecReturnAttributes: true]
            keychain.run([
                .update(query(first), [kSecAttrServer: "new.example"], .success),
                .find(query(first).with(wanted), .dictionary([kSecAttrServer: "new.example"])),
                .find(query(second).with(wanted), .dictionary([kSecAttrServer: "members.example"])),
                .delete(query(first), .success),
                .find(query(first), .notFound),
                .update(query(first), [kSecAttrServer: "newer.example"], .notFound),
                .delete(query(first), .notFound),
                .find(query(second), .success),
            ])
        }
    }

    @Test("T9.6 A search by persistent reference names no attribute besides", arguments: KeychainHost.everyHost)
    func searchNamesNoAttribute(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let reference = try reference(adding: item)
            keychain.run([
                .find(query(reference).with([kSecAttrAccount: "smith"]), .parameter),
                .find(query(reference).with([kSecAttrSynchronizable: false]), .parameter),
                .find(
                    query(reference).with([
                        kSecClass: kSecClassInternetPassword, kSecMatchLimit: kSecMatchLimitOne,
                        kSecReturnData: true,
                    ]),
                    .data(bytes("walnut"))),
                .find(
                    query(reference).with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true]),
                    .data(inAnyOrder: [reference])),
            ])
        }
    }

    @Test(
        "T9.7 T9.8 Bytes that are no persistent reference of this keychain are refused",
        arguments: KeychainHost.everyHost)
    func refusesOtherBytes(host: KeychainHost) throws {
        let old = bytes("inet") + Data(count: 8)
        let unknown = bytes("what") + Data(repeating: 7, count: 16)
        try table(
            host,
            [
                .add(item.with([kSecValuePersistentRef: old]), .parameter),
                .find(query(old), .parameter),
                .find(query(unknown), .parameter),
                .find(query(bytes("inet") + Data(count: 15)), .parameter),
                .find(query(Data()), .parameter),
                .find([kSecValuePersistentRef: "inet"], .parameter),
                .update(query(unknown), [kSecAttrLabel: "new"], .parameter),
                .delete(query(unknown), .parameter),
                .find(item.query, .notFound),
            ])
    }

    @Test("T9.9 A persistent reference that nobody was given finds nothing", arguments: KeychainHost.everyHost)
    func unknownReferenceFindsNothing(host: KeychainHost) throws {
        let unknown = query(bytes("inet") + Data(repeating: 7, count: 16))
        try table(
            host,
            [
                .add(item, .success),
                .find(unknown, .notFound),
                .update(unknown, [kSecAttrLabel: "new"], .notFound),
                .delete(unknown, .notFound),
                .find(item.query, .success),
            ])
    }

    @Test("C.17 A persistent reference of another class than the query's is refused", arguments: KeychainHost.everyHost)
    func refusesAnotherClass(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let reference = try reference(adding: item)
            keychain.run([
                .find(query(reference).with([kSecClass: kSecClassGenericPassword]), .noSuchClass),
                .find(query(bytes("genp") + reference.dropFirst(4)), .notFound),
                .find(query(reference), .success),
            ])
        }
    }
}
