import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// C: what this keychain has chosen where the reference leaves a choice, or does what nobody can want.
struct ChoiceTests {
    private let item = Fixtures.generic
    private let changes: Item = [kSecAttrLabel: "new"]

    @Test("C.1 Tombstones, digests and users are no attributes", arguments: KeychainHost.everyHost)
    func internalAttributes(host: KeychainHost) throws {
        let internals: [Item] = [[Code.tombstone: 0], [Code.digest: Data(count: 20)], [Code.multiUser: Data()]]
        let rows = internals.flatMap { keys -> [Row] in
            [
                .find(item.query.with(keys), .noSuchAttribute),
                .delete(item.query.with(keys), .noSuchAttribute),
                .add(item.with([kSecAttrAccount: "b"]).with(keys), .noSuchAttribute),
            ]
        }
        try table(host, [.add(item, .success)] + rows + [.find(item.query, .success)])
    }

    @Test("C.2 A delete may say that it means all, and cannot say how many", arguments: KeychainHost.everyHost)
    func limitOfDelete(host: KeychainHost) throws {
        let all: Item = [kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll]
        try table(
            host,
            [
                .add(item, .success),
                .add(item.with([kSecAttrAccount: "b"]), .success),
                .delete(all.with([kSecMatchLimit: 2]), .parameter),
                .delete(all.with([kSecMatchLimit: 1]), .parameter),
                .find(all.with([kSecReturnData: true]), .array(of: 2)),
                .delete(all, .success),
                .delete(all, .notFound),
            ])
    }

    @Test("C.3 An add or an update with a match key is refused and does nothing", arguments: KeychainHost.everyHost)
    func matchKeyBesideASearch(host: KeychainHost) throws {
        let keys: [Item] = [
            [kSecMatchLimit: kSecMatchLimitOne], [kSecMatchLimit: kSecMatchLimitAll],
            [kSecMatchCaseInsensitive: true],
        ]
        let additions = keys.flatMap { [Row.add(item.with($0), .parameter), .find(item.query, .notFound)] }
        let updates = keys.map { Row.update(item.query.with($0), changes, .parameter) }
        try table(host, additions + [.add(item, .success)] + updates + [.find(item.query.with(changes), .notFound)])
    }

    @Test("C.5 A reference to a password succeeds with nothing", arguments: KeychainHost.everyHost)
    func referenceToPassword(host: KeychainHost) throws {
        let reference: Item = [kSecReturnRef: true]
        let rows = [item, Fixtures.internet].flatMap { item -> [Row] in
            [.add(item.with(reference), .nothing), .find(item.query.with(reference), .nothing)]
        }
        try table(host, rows)
    }

    @Test(
        "C.11 A protection that does not exist, or that ends at the reboot, is refused",
        arguments: KeychainHost.everyHost)
    func unknownProtection(host: KeychainHost) throws {
        let rows = ["f", "xx", ""].flatMap { name -> [Row] in
            let protection: Item = [kSecAttrAccessible: name]
            return [
                .add(item.with([kSecAttrAccount: "b"]).with(protection), .parameter),
                .find(item.query.with(protection), .parameter),
                .update(item.query, protection, .parameter),
            ]
        }
        try table(host, [.add(item, .success)] + rows + [.delete(item.query, .success)])
    }

    @Test("C.12 Attributes of Apple's own programs need an entitlement nobody has", arguments: KeychainHost.everyHost)
    func restrictedAttributes(host: KeychainHost) throws {
        let everywhere: [CFString] = ["sysb", "pcss", "pcsk", "pcsi", "ggrp"]
        let internet: [CFString] = ["binn", "bini", "bin0", "bin1", "bin2", "bin3"]
        let rows =
            everywhere.map { Row.add(item.with([$0: "1"]), .missingEntitlement) }
            + internet.map { Row.add(Fixtures.internet.with([$0: bytes("1")]), .missingEntitlement) }
        try table(host, rows + [.find(item.query, .notFound), .find(Fixtures.internet.query, .notFound)])
    }

    @Test("C.13 A secret of more than 64 MiB is refused", arguments: KeychainHost.everyHost)
    func hugeSecret(host: KeychainHost) throws {
        let huge: Item = [kSecValueData: Data(count: 64 << 20 + 1)]
        try table(
            host,
            [
                .add(item.with(huge), .tooLarge),
                .find(item.query, .notFound),
                .add(item, .success),
                .update(item.query, huge, .tooLarge),
                .find(item.query.with([kSecReturnData: true]), .data(Fixtures.secret)),
            ])
    }

    @Test("C.14 An identity is not added by attributes", arguments: KeychainHost.everyHost)
    func identityByAttributes(host: KeychainHost) throws {
        let whole = Fixtures.identity.with([kSecAttrLabel: "L", kSecValueData: Fixtures.certificateBytes])
        try table(
            host,
            [
                .add(whole, .parameter),
                .find([kSecClass: kSecClassCertificate], .notFound),
                .find([kSecClass: kSecClassKey], .notFound),
            ])
    }

    @Test("C.15 A limit of minus one is none", arguments: KeychainHost.everyHost)
    func unlimited(host: KeychainHost) throws {
        let data: Item = [kSecClass: kSecClassGenericPassword, kSecReturnData: true, kSecMatchLimit: -1]
        let additions = ["a", "b", "c"].map { Row.add(item.with([kSecAttrAccount: $0]), .success) }
        try table(host, additions + [.find(data, .array(of: 3))])
    }

    @Test(
        "C.19 Certificates are always readable unless they say otherwise, all else while unlocked",
        arguments: KeychainHost.everyHost)
    func defaultProtection(host: KeychainHost) throws {
        let wanted: Item = [kSecReturnAttributes: true]
        let rows = Fixtures.everyStored.flatMap { item -> [Row] in
            let isCertificate = item[kSecClass] as? CFString == kSecClassCertificate
            let protection: Item = [
                kSecAttrAccessible: isCertificate ? kSecAttrAccessibleAlways : kSecAttrAccessibleWhenUnlocked
            ]
            return [
                .add(item, .success),
                .find(item.query.with(wanted), .dictionary(protection)),
                .find(item.query.with(protection), .success),
            ]
        }
        try table(host, rows)
    }

    @Test(
        "C.20 An update changes the protection, and the item is found under the new one",
        arguments: KeychainHost.everyHost)
    func updateChangesProtection(host: KeychainHost) throws {
        let protection: (CFString) -> Item = { [kSecAttrAccessible: $0] }
        let rows = Fixtures.everyProtection.flatMap { name -> [Row] in
            [
                .update(item.query, protection(name), .success),
                .find(item.query.with(protection(name)).with([kSecReturnData: true]), .data(Fixtures.secret)),
            ]
        }
        try table(
            host,
            [.add(item, .success)] + rows + [
                .find(item.query.with(protection(kSecAttrAccessibleWhenUnlocked)), .notFound),
                .add(item, .duplicate),
            ])
    }

    @Test(
        "C.21 An update of an identity by attributes changes both halves that have them",
        arguments: KeychainHost.everyHost)
    func updateOfIdentity(host: KeychainHost) throws {
        let labelled: (CFString, String) -> Item = { [kSecClass: $0, kSecAttrLabel: $1] }
        try table(
            host,
            [
                .update(Fixtures.identity, changes, .notFound),
                .add(Fixtures.certificate, .success),
                .add(Fixtures.privateKey, .success),
                .update(labelled(kSecClassIdentity, "L"), changes, .success),
                .find(labelled(kSecClassCertificate, "new"), .success),
                .find(labelled(kSecClassKey, "new"), .success),
                .find(labelled(kSecClassIdentity, "new"), .success),
                .find(labelled(kSecClassIdentity, "L"), .notFound),
            ])
    }

    @Test("C.22 An update that changes nothing touches the item", arguments: KeychainHost.everyHost)
    func emptyUpdate(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.run([.add(item, .success)])
            let modified: () throws -> Date? = {
                try attributes(of: item.query)[kSecAttrModificationDate as String] as? Date
            }
            let before = try #require(try modified())
            keychain.run([.wait(5), .update(item.query, [:], .success)])
            #expect(try modified() == before + 5)
            keychain.run([.find(item.query.with([kSecReturnData: true]), .data(Fixtures.secret))])
        }
    }

    @Test("C.23 The secret in a query is no condition", arguments: KeychainHost.everyHost)
    func secretIsNoCondition(host: KeychainHost) throws {
        let other: Item = [kSecValueData: bytes("other"), kSecReturnData: true]
        try table(
            host,
            [
                .add(item, .success),
                .find(item.query.with(other), .data(Fixtures.secret)),
                .delete(item.query.with([kSecValueData: bytes("other")]), .success),
            ])
    }
}
