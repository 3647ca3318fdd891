import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T5: an identity is a certificate joined with the private key it belongs to, here by attributes alone.
struct T05IdentityTests {
    private let certificate = Fixtures.certificate
    private let key = Fixtures.privateKey
    private let identity = Fixtures.identity

    private var second: Item {
        certificate.with([kSecAttrSerialNumber: Data([0x02]), kSecValueData: bytes("second")])
    }

    private func labelled(_ name: CFString, _ label: String) -> Item { [kSecClass: name, kSecAttrLabel: label] }

    @Test(
        "T5.1 T5.2 The key and the certificate are each found by the hash of the public key",
        arguments: KeychainHost.everyHost)
    func halvesAreFoundByHash(host: KeychainHost) throws {
        let byHash: Item = [kSecClass: kSecClassKey, kSecAttrApplicationLabel: Fixtures.keyHash]
        let byKey: Item = [kSecClass: kSecClassCertificate, kSecAttrPublicKeyHash: Fixtures.keyHash]
        let data: Item = [kSecReturnData: true]
        try table(
            host,
            [
                .add(certificate, .success),
                .add(key, .success),
                .find(byHash.with(data), .data(bytes("key"))),
                .find(byKey.with(data), .data(Fixtures.certificateBytes)),
                .find(byHash.with([kSecAttrApplicationLabel: Data(count: 20)]), .notFound),
            ])
    }

    @Test("T5.3 An identity shows the key's attributes under the certificate's", arguments: KeychainHost.everyHost)
    func identityShowsBothHalves(host: KeychainHost) throws {
        let query = identity.with([kSecAttrApplicationLabel: Fixtures.keyHash])
        let values: Item = [
            kSecAttrLabel: "L", kSecAttrSerialNumber: Data([0x01]), kSecAttrIssuer: Fixtures.issuer,
            kSecAttrPublicKeyHash: Fixtures.keyHash, kSecAttrApplicationLabel: Fixtures.keyHash,
            kSecAttrKeySizeInBits: 256,
        ]
        try table(
            host,
            [
                .add(certificate, .success),
                .find(query, .notFound),
                .add(key.with([kSecAttrLabel: "the key's"]), .success),
                .find(query, .success),
                .find(query.with([kSecReturnAttributes: true]), .dictionary(values, without: [kSecValueData])),
            ])
    }

    @Test("T5.3 A public key makes no identity, nor does a foreign private key", arguments: KeychainHost.everyHost)
    func foreignKeysMakeNoIdentity(host: KeychainHost) throws {
        let foreign: Item = [kSecAttrApplicationLabel: Data(repeating: 0x17, count: 20)]
        try table(
            host,
            [
                .add(certificate, .success),
                .add(key.with([kSecAttrKeyClass: kSecAttrKeyClassPublic]), .success),
                .add(key.with(foreign), .success),
                .find(identity, .notFound),
                .add(key, .success),
                .find(identity, .success),
            ])
    }

    @Test("T5.4 T5.5 Without its certificate or its key there is no identity", arguments: KeychainHost.everyHost)
    func identityNeedsBothHalves(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(certificate, .success),
                .add(key, .success),
                .delete(certificate.query, .success),
                .find(identity, .notFound),
                .add(certificate, .success),
                .find(identity, .success),
                .delete(key.query, .success),
                .find(identity, .notFound),
                .find(certificate.query, .success),
            ])
    }

    @Test(
        "T5.8 An identity's persistent reference is the certificate's in another class",
        arguments: KeychainHost.everyHost)
    func persistentReferenceOfIdentity(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let ofCertificate = try reference(adding: certificate)
            keychain.run([.add(key, .success)])
            let ofIdentity: Data = try found(identity.with([kSecReturnPersistentRef: true]))
            #expect(ofIdentity == bytes("idnt") + ofCertificate.dropFirst(4))
            let query: Item = [kSecValuePersistentRef: ofIdentity]
            keychain.run([
                .find(query.with([kSecReturnAttributes: true]), .dictionary([kSecAttrLabel: "L"])),
                .delete(key.query, .success),
                .find(query, .notFound),
            ])
        }
    }

    @Test("T5.11 An identity is deleted by its persistent reference", arguments: KeychainHost.everyHost)
    func deletesByPersistentReference(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.run([.add(certificate, .success), .add(key, .success)])
            let reference: Data = try found(identity.with([kSecReturnPersistentRef: true]))
            keychain.run([
                .delete([kSecValuePersistentRef: reference], .success),
                .find([kSecValuePersistentRef: reference], .notFound),
                .delete([kSecValuePersistentRef: reference], .notFound),
                .find(certificate.query, .notFound),
                .find(key.query, .notFound),
            ])
        }
    }

    @Test("T5.12 T5.13 T5.14 An identity has the certificate's label, not the key's", arguments: KeychainHost.everyHost)
    func labelIsTheCertificates(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(certificate, .success),
                .add(key, .success),
                .find(labelled(kSecClassIdentity, "L"), .success),
                .find(labelled(kSecClassCertificate, "L"), .success),
                .find(labelled(kSecClassKey, "L"), .success),
                .update(key.query, [kSecAttrLabel: "K"], .success),
                .find(labelled(kSecClassIdentity, "L"), .success),
                .find(labelled(kSecClassIdentity, "K"), .notFound),
                .update(certificate.query, [kSecAttrLabel: "C"], .success),
                .find(labelled(kSecClassIdentity, "L"), .notFound),
                .find(labelled(kSecClassIdentity, "C"), .success),
            ])
    }

    @Test("T5.15 An identity is found by its certificate's issuer and serial number", arguments: KeychainHost.everyHost)
    func findsByIssuer(host: KeychainHost) throws {
        let byIssuer = identity.with([kSecAttrIssuer: Fixtures.issuer, kSecReturnAttributes: true])
        try table(
            host,
            [
                .add(certificate, .success),
                .add(second, .success),
                .add(key, .success),
                .find(byIssuer, .success),
                .find(
                    byIssuer.with([kSecAttrSerialNumber: Data([0x02])]),
                    .dictionary([kSecAttrSerialNumber: Data([0x02])])),
                .find(byIssuer.with([kSecAttrIssuer: bytes("another")]), .notFound),
            ])
    }

    @Test("T5.16 Deleting an identity by its label deletes both halves that bear it", arguments: KeychainHost.everyHost)
    func deletesByLabel(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(certificate, .success),
                .add(key, .success),
                .delete(labelled(kSecClassIdentity, "L"), .success),
                .delete(labelled(kSecClassIdentity, "L"), .notFound),
                .find(certificate.query, .notFound),
                .find(key.query, .notFound),
            ])
    }

    @Test(
        "T5.18 Two certificates on one key are two identities, and the key outlives the first",
        arguments: KeychainHost.everyHost)
    func keyOutlivesTheFirstIdentity(host: KeychainHost) throws {
        let all = identity.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true])
        try withKeychain(host) { keychain in
            keychain.run([.add(certificate, .success), .add(second, .success), .add(key, .success)])
            let references: [Data] = try found(all)
            try #require(Set(references).count == 2)
            keychain.run([
                .delete([kSecValuePersistentRef: references[0]], .success),
                .find(key.query, .success),
                .find(all, .data(inAnyOrder: [references[1]])),
                .delete([kSecValuePersistentRef: references[1]], .success),
                .find(key.query, .notFound),
            ])
        }
    }

    private func synchronizable(_ item: Item, _ value: Any) -> Item { item.with([kSecAttrSynchronizable: value]) }

    @Test("T5.19 The halves of an identity are both synchronizable, or neither is", arguments: KeychainHost.everyHost)
    func halvesAreOfOneState(host: KeychainHost) throws {
        let all: Item = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true]
        let ofAny = synchronizable(identity, kSecAttrSynchronizableAny).with(all)
        try withKeychain(host) { keychain in
            keychain.run([
                .add(synchronizable(certificate, true), .success),
                .add(synchronizable(key, false), .success),
                .find(ofAny, .notFound),
                .add(synchronizable(certificate, false), .success),
                .add(synchronizable(key, true), .success),
            ])
            for (value, count) in [(kCFBooleanTrue as Any, 1), (false, 1), (kSecAttrSynchronizableAny, 2)] {
                let references: [Data] = try found(synchronizable(identity, value).with(all))
                #expect(references.count == count)
                let byHash: [Data] = try found(
                    synchronizable(identity, value).with(all).with([kSecAttrApplicationLabel: Fixtures.keyHash]))
                #expect(Set(byHash) == Set(references))
            }
        }
    }

    @Test(
        "T5.20 Deleting identities of one state leaves those of the other", arguments: [true, false],
        KeychainHost.everyHost)
    func deletesOneState(state: Bool, host: KeychainHost) throws {
        let halves = [certificate, key]
        try table(
            host,
            halves.flatMap { half in
                [true, false].map { .add(synchronizable(half, $0), .success) }
            } + [
                .delete(synchronizable(labelled(kSecClassIdentity, "L"), state), .success),
                .delete(synchronizable(labelled(kSecClassIdentity, "L"), state), .notFound),
                .find(synchronizable(identity, !state), .success),
            ]
                + halves.flatMap { half in
                    [
                        .find(synchronizable(half.query, state), .notFound),
                        .find(synchronizable(half.query, !state), .success),
                    ]
                })
    }

    @Test(
        "T5.22 An update that would part the halves of another identity is refused, and one that means all is not",
        arguments: KeychainHost.everyHost)
    func keepsOthersWhole(host: KeychainHost) throws {
        let both: Item = [kSecClass: kSecClassIdentity]
        let serials: [Item] = [1, 2].map { [kSecClass: kSecClassIdentity, kSecAttrSerialNumber: Data([$0])] }
        try table(
            host,
            [.add(certificate, .success), .add(second, .success), .add(key, .success)]
                + [.update(serials[1], [kSecAttrSynchronizable: true], .parameter)]
                + serials.map { .find($0, .success) }
                + [.update(both, [kSecAttrSynchronizable: true], .success)]
                + serials.map { .find(synchronizable($0, true), .success) }
                + [.update(synchronizable(serials[1], true), [kSecAttrLabel: "both"], .success)])
    }

    @Test("T5.21 A half that the query does not mean by itself is not deleted", arguments: KeychainHost.everyHost)
    func keepsWhatDoesNotMatch(host: KeychainHost) throws {
        try table(
            host,
            [
                .asCaller(
                    ["one", "two"],
                    [
                        // The key has another label.
                        .add(certificate, .success),
                        .add(key.with([kSecAttrLabel: "the key's"]), .success),
                        .delete(labelled(kSecClassIdentity, "L"), .success),
                        .find(certificate.query, .notFound),
                        .find(labelled(kSecClassKey, "the key's"), .success),
                        // The certificate is in another group.
                        .add(certificate.with([kSecAttrAccessGroup: "two"]), .success),
                        .find(identity.with([kSecAttrAccessGroup: "one"]), .success),
                        .delete(identity.with([kSecAttrAccessGroup: "one"]), .notFound),
                        .find(certificate.query, .success),
                        .find(identity, .success),
                        .delete(identity, .success),
                        .find(certificate.query, .notFound),
                        .find(labelled(kSecClassKey, "the key's"), .notFound),
                    ])
            ])
    }
}
