import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

@Suite("Typed items of the Swift API") struct KeychainItemsTests {
    let items = KeychainItems()

    @Test("Every attribute of a class has a property", arguments: ItemClass.allCases)
    func everyAttribute(_ itemClass: ItemClass) throws {
        let table = AttributeTable.table(for: itemClass).rules.map(\.attribute)
        // Not attributes that anybody sets: the system's own mark, and what tells a token's keys apart.
        let attributes = Set(table).subtracting([.protected, .tokenObjectID])
        let set =
            switch itemClass {
            case .genericPassword: Full.genericPassword.names
            case .internetPassword: Full.internetPassword.names
            case .certificate: Full.certificate.names
            case .key: Full.key.names
            case .identity: Full.identity.names
            }
        // Of identities keys' and certificates' own numbers.
        #expect(attributes.subtracting(set).subtracting(itemClass == .identity ? [.type, .creator] : []) == [])
    }

    @Test("A query by what nothing can be searched by is refused, and removes nothing")
    func refusedConditions() throws {
        try withKeychain { _ in
            var password = Keychain.GenericPassword()
            password.service = "s"
            try items.add(password)
            #expect(
                KeychainValuesTests.code {
                    try items.remove(Keychain.GenericPassword.self) {
                        $0.service = "s"
                        $0.accessControl = .init(.always)
                    }
                } == .parameter)
            #expect(try items.find(Keychain.GenericPassword.self).count == 1)
        }
    }

    @Test("All properties come back as they were stored", arguments: KeychainHost.carriers)
    func roundTrip(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            try expectRoundTrip(Full.genericPassword)
            try expectRoundTrip(Full.internetPassword)
            try expectRoundTrip(Full.certificate)
            try expectRoundTrip(Full.key)
            #expect(KeychainValuesTests.code { try items.add(Full.identity) } == .parameter)
            let password = try items.find(Keychain.InternetPassword.self).first
            #expect(
                password?.protocol == .imaps && password?.authenticationType == .httpDigest && password?.port == 993)
            let key = try items.find(Keychain.Key.self).first
            #expect(
                key?.keyClass == .privateKey && key?.keyType == 73 && key?.canSign == true && key?.canVerify == false)
            #expect(key?.startDate == Date(timeIntervalSinceReferenceDate: 1.5))
        }
    }

    private func expectRoundTrip<Kind>(_ item: KeychainItem<Kind>) throws {
        let before = Date()
        var full = item
        full.accessGroup = "G2"
        full.accessControl = .init(.afterFirstUnlockThisDeviceOnly)
        full.secret = Data("s3cret".utf8)
        let stored = try items.add(full)
        let found = try #require(try items.find(KeychainItem<Kind>.self, wantsSecrets: true).first)
        for item in [stored, found] {
            #expect(item.described == full.described)
            #expect(item.accessGroup == "G2")
            #expect(item.accessControl?.accessibility == .afterFirstUnlockThisDeviceOnly)
            #expect(item.secret == Data("s3cret".utf8))
            #expect(item.persistentReference?.count == 20)
            #expect(item.created != nil && item.created == item.modified)
        }
        #expect(before.timeIntervalSinceReferenceDate > 0)
        #expect(try items.find(KeychainItem<Kind>.self).first?.secret == nil)
        var reference = KeychainQuery<Kind>()
        reference.persistentReference = stored.persistentReference
        #expect(try items.find(reference).count == 1)
    }

    @Test("A query finds what has its attributes, as many as it wants", arguments: KeychainHost.carriers)
    func queries(_ host: KeychainHost) throws {
        try withKeychain(host) { _ in
            for (account, comment) in [("a", "x"), ("b", "x"), ("c", "y")] {
                var item = Keychain.GenericPassword()
                item.service = "s"
                item.account = account
                item.comment = comment
                item.isSynchronizable = account == "b"
                try items.add(item)
            }
            func accounts(_ conditions: (inout KeychainQuery<KeychainItemKinds.GenericPassword>) -> Void) throws
                -> [String]
            {
                try items.find(Keychain.GenericPassword.self, where: conditions).compactMap(\.account).sorted()
            }
            #expect(try accounts { _ in } == ["a", "c"])
            #expect(try accounts { $0.isSynchronizable = nil } == ["a", "b", "c"])
            #expect(try accounts { $0.isSynchronizable = true } == ["b"])
            #expect(try accounts { $0.comment = "x" } == ["a"])
            #expect(try accounts { ($0.isSynchronizable, $0.limit) = (nil, 2) }.count == 2)
            #expect(try accounts { $0.accessibility = .always } == [])
            #expect(KeychainValuesTests.code { _ = try accounts { $0.secret = Data() } } == .parameter)
        }
    }

    @Test("An update sets what is named and nothing else; a removal wants something named")
    func changes() throws {
        try withKeychain { _ in
            for account in ["a", "b"] {
                var item = Keychain.GenericPassword()
                (item.service, item.account, item.comment, item.secret) = ("s", account, "old", Data(account.utf8))
                try items.add(item)
            }
            try items.update(Keychain.GenericPassword.self) {
                $0.account = "a"
            } _: {
                $0.comment = "new"
            }
            let found = try items.find(Keychain.GenericPassword.self, wantsSecrets: true).sorted {
                $0.account! < $1.account!
            }
            #expect(found.map(\.comment) == ["new", "old"])
            #expect(found.map(\.secret) == [Data("a".utf8), Data("b".utf8)])
            #expect(KeychainValuesTests.code { try items.remove(Keychain.GenericPassword.self) { _ in } } == .parameter)
            #expect(
                KeychainValuesTests.code { try items.remove(Keychain.GenericPassword.self) { $0.limit = 1 } }
                    == .parameter)
            #expect(try items.remove(Keychain.GenericPassword.self) { $0.account = "a" } == 1)
            #expect(try items.remove(Keychain.GenericPassword.self) { $0.account = "a" } == 0)
            #expect(try items.remove(KeychainQuery<KeychainItemKinds.GenericPassword>()) == 1)
        }
    }

    @Test("Every call has a form for tasks")
    func tasks() async throws {
        try await withKeychain { _ in
            var item = Keychain.InternetPassword()
            item.server = "example.com"
            #expect(try await items.add(item).server == "example.com")
            try await items.update(Keychain.InternetPassword.self) {
                $0.server = "example.com"
            } _: {
                $0.label = "l"
            }
            #expect(try await items.find(Keychain.InternetPassword.self) { $0.label = "l" }.count == 1)
            #expect(try await items.remove(Keychain.InternetPassword.self) { $0.label = "l" } == 1)
        }
    }
}

extension KeychainItem {
    /// Its attributes, apart from those that uniqueness adds.
    fileprivate var described: [String: String] {
        Dictionary(uniqueKeysWithValues: Mirror(reflecting: self).attributes.map { ("\($0.attribute)", "\($0.value)") })
    }

    fileprivate var names: Set<Attribute> { Set(Mirror(reflecting: self).attributes.map(\.attribute)) }
}

extension Mirror {
    fileprivate var attributes: [(attribute: Attribute, value: AttributeValue)] {
        (descendant("attributes") as! AttributeSet).entries
    }
}

/// Items in which every property is set.
private enum Full {
    static var genericPassword: Keychain.GenericPassword {
        var item = Keychain.GenericPassword()
        (item.service, item.generic) = ("service", Data([1]))
        fill(&item)
        fillPassword(&item)
        return item
    }

    static var internetPassword: Keychain.InternetPassword {
        var item = Keychain.InternetPassword()
        (item.server, item.port, item.path, item.securityDomain) = ("example.com", 993, "/a", "realm")
        (item.protocol, item.authenticationType) = (.imaps, .httpDigest)
        fill(&item)
        fillPassword(&item)
        return item
    }

    static var certificate: Keychain.Certificate {
        var item = Keychain.Certificate()
        fill(&item)
        fillCertificate(&item)
        return item
    }

    static var key: Keychain.Key {
        var item = Keychain.Key()
        fill(&item)
        fillKey(&item)
        (item.keyType, item.creator) = (73, 4)
        return item
    }

    static var identity: Keychain.Identity {
        var item = Keychain.Identity()
        fill(&item)
        fillCertificate(&item)
        fillKey(&item)
        return item
    }

    private static func fill<Kind>(_ item: inout KeychainItem<Kind>) {
        (item.label, item.viewHint, item.tokenID, item.alias) = ("label", "hint", "token", Data([2]))
    }

    private static func fillPassword<Kind: KeychainPasswordKind>(_ item: inout KeychainItem<Kind>) {
        (item.account, item.itemDescription, item.comment) = ("account", "description", "comment")
        (item.creator, item.type, item.scriptCode) = (1, 2, 3)
        (item.isInvisible, item.isNegative, item.hasCustomIcon) = (true, false, true)
    }

    private static func fillCertificate<Kind: KeychainCertificateKind>(_ item: inout KeychainItem<Kind>) {
        (item.certificateType, item.certificateEncoding) = (1, 3)
        (item.subject, item.issuer, item.serialNumber) = (Data([3]), Data([4]), Data([5]))
        (item.subjectKeyID, item.publicKeyHash) = (Data([6]), Data([7]))
    }

    private static func fillKey<Kind: KeychainKeyKind>(_ item: inout KeychainItem<Kind>) {
        (item.applicationLabel, item.applicationTag, item.keyClass) = (Data([8]), Data([9]), .privateKey)
        (item.keySizeInBits, item.effectiveKeySize) = (256, 255)
        (item.startDate, item.endDate) = (
            Date(timeIntervalSinceReferenceDate: 1.5), Date(timeIntervalSinceReferenceDate: 2)
        )
        (item.isPermanent, item.isPrivate, item.isModifiable, item.isSensitive) = (true, true, false, true)
        (item.wasAlwaysSensitive, item.isExtractable, item.wasNeverExtractable) = (true, false, true)
        (item.canEncrypt, item.canDecrypt, item.canDerive, item.canSign, item.canVerify) = (
            false, true, true, true, false
        )
        (item.canSignRecover, item.canVerifyRecover, item.canWrap, item.canUnwrap) = (false, false, true, true)
    }
}
