import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T7: the shape of a result, by return types and limit.
struct T07LimitTests {
    private let item = Fixtures.generic
    private var all: Item { item.query.with([kSecMatchLimit: kSecMatchLimitAll]) }
    private var data: Item { item.query.with([kSecReturnData: true]) }

    @Test("T7.1 T7.2 T7.3 With limit All one item comes in an array of one", arguments: KeychainHost.everyHost)
    func allIsAlwaysAnArray(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let reference = try reference(adding: item)
            let both: Item = [kSecValueData: Fixtures.secret, kSecValuePersistentRef: reference]
            keychain.run([
                .find(
                    all.with([kSecReturnData: true, kSecReturnPersistentRef: true]),
                    .dictionaryInArray(both, without: [kSecAttrAccount])),
                .find(all.with([kSecReturnData: true]), .data(inAnyOrder: [Fixtures.secret])),
                .find(all.with([kSecReturnPersistentRef: true]), .data(inAnyOrder: [reference])),
            ])
        }
    }

    @Test("T7.4 With limit All and no return type the array is empty", arguments: KeychainHost.everyHost)
    func allWithoutReturnTypeIsEmpty(host: KeychainHost) throws {
        try table(
            host,
            [
                .find(all, .notFound),
                .add(item, .success),
                .find(all, .array(of: 0)),
                .find(item.query, .nothing),
            ])
    }

    @Test("T7.5 T7.6 With limit one the value comes bare", arguments: KeychainHost.everyHost)
    func oneIsBare(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .find(data, .data(Fixtures.secret)),
                .find(data.with([kSecMatchLimit: kSecMatchLimitOne]), .data(Fixtures.secret)),
                .find(data.with([kSecMatchLimit: 1]), .data(Fixtures.secret)),
            ])
    }

    @Test("T7.7 A limit of two gives an array of at most two", arguments: KeychainHost.everyHost)
    func numberIsAnUpperBound(host: KeychainHost) throws {
        let additions = ["a", "b", "c"].map { Row.add(item.with([kSecAttrAccount: $0]), .success) }
        let service: Item = [kSecClass: kSecClassGenericPassword, kSecReturnData: true]
        try table(
            host,
            additions + [
                .find(service.with([kSecMatchLimit: 2]), .array(of: 2)),
                .find(service.with([kSecMatchLimit: 0x7fff]), .array(of: 3)),
                .find(service.with([kSecMatchLimit: 2, kSecAttrAccount: "a"]), .array(of: 1)),
            ])
    }

    @Test(
        "T7.8 T7.9 A limit of nought finds nothing, and a limit that is no number is refused",
        arguments: KeychainHost.everyHost)
    func oddLimits(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .find(data.with([kSecMatchLimit: 0]), .notFound),
                .find(data.with([kSecMatchLimit: "x"]), .parameter),
                .find(data.with([kSecMatchLimit: Date(timeIntervalSince1970: 0)]), .parameter),
            ])
    }

    @Test("T7.10 A return type is a Boolean, not a number", arguments: KeychainHost.everyHost)
    func returnTypesAreBooleans(host: KeychainHost) throws {
        let returns = [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef]
        let refusals = returns.flatMap { name -> [Row] in
            [
                .find(item.query.with([name: 1]), .parameter),
                .find(item.query.with([name: NSNumber(value: Int32(0))]), .parameter),
                .find(item.query.with([name: "true"]), .parameter),
            ]
        }
        try table(
            host,
            [.add(item, .success)] + refusals + [
                .add(item.with([kSecAttrService: "t", kSecReturnData: 1]), .parameter),
                .find(item.query.with([kSecAttrService: "t"]), .notFound),
                .find(item.query.with([kSecReturnData: NSNumber(value: true)]), .data(Fixtures.secret)),
                .find(item.query.with([kSecReturnData: kCFBooleanTrue as Any]), .data(Fixtures.secret)),
            ])
    }

    @Test("T7.11 T7.13 The attributes hold nothing internal, nor the secret", arguments: KeychainHost.everyHost)
    func attributesHoldNothingInternal(host: KeychainHost) throws {
        let absent = [
            Code.uuid, Code.persistentReference, Code.tombstone, Code.multiUser, Code.digest,
            kSecClass, kSecValueData, kSecValueRef, kSecValuePersistentRef,
        ]
        let wanted: Item = [kSecReturnAttributes: true]
        try table(
            host,
            [
                .add(item.with(wanted), .dictionary([kSecAttrAccount: "a"], without: absent)),
                .find(item.query.with(wanted), .dictionary([kSecAttrAccount: "a"], without: absent)),
                .find(all.with(wanted), .dictionaryInArray([kSecAttrAccount: "a"], without: absent)),
                .find(
                    item.query.with([kSecReturnAttributes: true, kSecReturnData: true]),
                    .dictionary([kSecAttrAccount: "a", kSecValueData: Fixtures.secret], without: [kSecClass])),
            ])
    }

    @Test("T7.12 The attributes hold what every item has", arguments: KeychainHost.everyHost)
    func attributesHoldTheCommonOnes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.run([.add(item.with([kSecAttrIsInvisible: true]), .success)])
            let found = try attributes(of: item.query)
            #expect(found[kSecAttrAccessControl as String] is SecAccessControl)
            #expect(found[kSecAttrAccessGroup as String] as? String == "G1")
            #expect(found[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
            #expect(found[kSecAttrSynchronizable as String] as? NSNumber == 0)
            #expect(found[kSecAttrCreationDate as String] is Date)
            #expect(found[kSecAttrModificationDate as String] is Date)
            #expect(found[kSecAttrIsInvisible as String] as? NSNumber == 1)
        }
    }
}
