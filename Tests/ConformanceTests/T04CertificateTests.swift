import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T4: certificates, by their attributes. What needs a reference waits until references are offered.
struct T04CertificateTests {
    private let item = Fixtures.certificate

    @Test("T4.1 T4.2 T4.3 A certificate is added once and deleted once", arguments: KeychainHost.everyHost)
    func addsAndDeletesOnce(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
            keychain.run([
                .add(item.with([kSecAttrSerialNumber: Data([0x02])]), .success),
                .delete(item.query, .success),
                .delete(item.query, .notFound),
            ])
        }
    }

    @Test("T4.4 An add that asks for nothing returns nothing", arguments: KeychainHost.everyHost)
    func addReturnsNothing(host: KeychainHost) throws {
        try table(host, [.add(item, .nothing)])
    }

    @Test("T4.5 The persistent reference of a certificate leads to its bytes", arguments: KeychainHost.everyHost)
    func persistentReferenceLeadsToBytes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let reference = try reference(adding: item)
            #expect(reference.starts(with: bytes("cert")))
            keychain.run([
                .find(
                    [kSecValuePersistentRef: reference, kSecReturnData: true],
                    .data(Fixtures.certificateBytes))
            ])
        }
    }

    @Test("T4.7 An add that asks for data returns the certificate's bytes", arguments: KeychainHost.everyHost)
    func addReturnsBytes(host: KeychainHost) throws {
        try table(host, [.add(item.with([kSecReturnData: true]), .data(Fixtures.certificateBytes))])
    }

    @Test("T4.8 An add that asks for attributes returns them and no more", arguments: KeychainHost.everyHost)
    func addReturnsAttributes(host: KeychainHost) throws {
        let values: Item = [
            kSecAttrCertificateType: 3, kSecAttrCertificateEncoding: 3, kSecAttrLabel: "L",
            kSecAttrIssuer: Fixtures.issuer, kSecAttrAccessGroup: "G1",
        ]
        let absent = [kSecValueData, kSecValueRef, kSecValuePersistentRef, kSecClass]
        try withKeychain(host) { keychain in
            keychain.run([
                .add(item.with([kSecReturnAttributes: true]), .dictionary(values, without: absent))
            ])
            let found = try attributes(of: item.query)
            #expect(found[kSecAttrCertificateType as String] is NSNumber)
            #expect(found[kSecAttrCertificateEncoding as String] is NSNumber)
        }
    }

    @Test("T4.9 Data and attributes and persistent reference come in one dictionary", arguments: KeychainHost.everyHost)
    func addReturnsSeveralThings(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let several: Item = [
                kSecReturnData: true, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
            ]
            let result: Attributes = try added(item.with(several))
            let reference = try #require(result[kSecValuePersistentRef as String] as? Data)
            #expect(result[kSecValueData as String] as? Data == Fixtures.certificateBytes)
            #expect(result[kSecAttrLabel as String] as? String == "L")
            keychain.run([.find([kSecValuePersistentRef: reference], .success)])
        }
    }

    @Test("T4.10 T4.11 An attribute of keys is not one of certificates", arguments: KeychainHost.everyHost)
    func refusesAttributesOfKeys(host: KeychainHost) throws {
        let tag: Item = [kSecAttrApplicationTag: bytes("tag")]
        try table(
            host,
            [
                .add(item.with(tag), .noSuchAttribute),
                .find(item.query, .notFound),
                .add(item, .success),
                .delete(item.query.with(tag), .noSuchAttribute),
                .find(item.query, .success),
            ])
    }

    @Test("T4.12 A certificate may be synchronizable", arguments: KeychainHost.everyHost)
    func mayBeSynchronizable(host: KeychainHost) throws {
        let synced = item.with([kSecAttrSynchronizable: true])
        try table(
            host,
            [
                .add(synced, .success),
                .find(item.query, .notFound),
                .delete(synced.query, .success),
                .delete(synced.query, .notFound),
            ])
    }
}
