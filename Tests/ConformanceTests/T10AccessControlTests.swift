import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T10, first half: the access controls themselves, which belong to no host.
struct T10AccessControlFlagTests {
    @Test("T10.1 An access control without flags is made for every protection")
    func noFlags() {
        for protection in Fixtures.everyProtection + [kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly] {
            #expect(make(protection, []) != nil, "\(protection)")
        }
    }

    @Test("T10.2 What is no protection makes no access control, and the error says so")
    func unknownProtection() throws {
        for protection: CFTypeRef in [NSNull(), NSNumber(value: 1), "xx" as CFString, "" as CFString] {
            var error: Unmanaged<CFError>?
            #expect(SecAccessControlCreateWithFlags(nil, protection, .userPresence, &error) == nil)
            let reason = try #require(error).takeRetainedValue() as any Error as NSError
            #expect(reason.code == Int(errSecParam))
        }
    }

    @Test(
        "T10.3 T10.4 T10.5 Constraints that go together are taken",
        arguments: [
            .biometryCurrentSet,
            .applicationPassword,
            [.biometryAny, .devicePasscode, .or],
            [.biometryAny, .devicePasscode, .and],
            [.biometryAny, .devicePasscode, .and, .applicationPassword],
            [.userPresence, .applicationPassword, .privateKeyUsage],
        ] as [SecAccessControlCreateFlags])
    func valid(flags: SecAccessControlCreateFlags) {
        #expect(make(kSecAttrAccessibleWhenUnlocked, flags) != nil)
    }

    @Test(
        "T10.6 Constraints that exclude each other are refused",
        arguments: [
            [.userPresence, .biometryAny],
            [.userPresence, .or],
            [.or, .and],
            [.biometryAny, .biometryCurrentSet],
        ] as [SecAccessControlCreateFlags])
    func invalid(flags: SecAccessControlCreateFlags) {
        #expect(make(kSecAttrAccessibleWhenUnlocked, flags) == nil)
    }
}

/// T10, second half: items under an access control. Who is asked, and what then opens: `AuthenticationTests`.
struct T10AccessControlTests {
    @Test("T10.8 An access control comes back from the store as it was given", arguments: KeychainHost.everyHost)
    func roundTrips(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            keychain.reader.enroll(1)
            let choices: [SecAccessControlCreateFlags] = [[], .userPresence, [.biometryAny, .devicePasscode, .or]]
            for (index, flags) in choices.enumerated() {
                let control = try #require(make(kSecAttrAccessibleWhenUnlocked, flags))
                let item = Fixtures.generic.with([kSecAttrAccount: "\(index)", kSecAttrAccessControl: control])
                let result: Attributes = try added(item.with([kSecReturnAttributes: true]))
                #expect(result[kSecAttrAccessControl as String] as? SecAccessControl == control, "\(flags)")
                #expect(result[kSecAttrAccessible as String] as? String == "ak")
            }
            let free: Item = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "0", kSecReturnAttributes: true]
            let control = try #require(make(kSecAttrAccessibleWhenUnlocked, []))
            keychain.run([.find(free, .dictionary([kSecAttrAccessControl: control]))])
        }
    }

    @Test(
        "T10.9 An access control without constraints changes nothing in the life of an item",
        arguments: KeychainHost.everyHost)
    func unconstrainedLife(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            for protection in Fixtures.everyProtection {
                let control = try #require(make(protection, []))
                for item in Fixtures.everyStored {
                    keychain.run(
                        [
                            .add(item.with([kSecAttrAccessControl: control]), .success),
                            .find(
                                item.query.with([kSecReturnAttributes: true]),
                                .dictionary([kSecAttrAccessible: protection, kSecAttrAccessControl: control])),
                            .delete(item.query, .success),
                            .find(item.query, .notFound),
                        ], within: "\(item[kSecClass] ?? "") \(protection) ")
                }
            }
        }
    }

    @Test("T10.10 A constrained item is never synchronizable", arguments: KeychainHost.everyHost)
    func constrainedIsNotSynchronizable(host: KeychainHost) throws {
        let control = try #require(make(kSecAttrAccessibleWhenUnlocked, .userPresence))
        let any: Item = [kSecAttrSynchronizable: kSecAttrSynchronizableAny]
        let rows = Fixtures.everyStored.flatMap { item -> [Row] in
            let constrained = item.with([kSecAttrAccessControl: control, kSecAttrSynchronizable: true])
            return [
                .add(constrained, .parameter),
                .find(item.query.with(any), .notFound),
                .add(item.with([kSecAttrSynchronizable: true]), .success),
                .update(item.query.with(any), [kSecAttrAccessControl: control], .parameter),
                .find(item.query.with([kSecAttrSynchronizable: true, kSecReturnData: true]), .success),
            ]
        }
        try table(host, rows)
    }

    @Test(
        "T10.11 T10.12 T10.13 Without anyone to ask a constrained item is not read, can be skipped, and is deleted",
        arguments: KeychainHost.everyHost,
        [.userPresence, .biometryCurrentSet, [.biometryAny, .devicePasscode, .or], .devicePasscode]
            as [SecAccessControlCreateFlags])
    func constrainedFailsClosed(host: KeychainHost, flags: SecAccessControlCreateFlags) throws {
        let refusal: Outcome = flags == .biometryCurrentSet ? .authenticationFailed : .interactionNotAllowed
        let control = try #require(make(kSecAttrAccessibleWhenUnlocked, flags))
        let rows = Fixtures.everyStored.flatMap { item -> [Row] in
            let data = item.query.with([kSecReturnData: true])
            let all = data.with([kSecMatchLimit: kSecMatchLimitAll])
            return [
                .add(item.with([kSecAttrAccessControl: control]), .success),
                .find(data, refusal),
                .find(data.with(userInterface(kSecUseAuthenticationUIFail)), .interactionNotAllowed),
                .find(all, refusal),
                .find(item.query.with([kSecReturnAttributes: true]), refusal),
                .find(data.with(userInterface(kSecUseAuthenticationUISkip)), .notFound),
                .find(all.with(userInterface(kSecUseAuthenticationUISkip)), .notFound),
                .update(item.query, [kSecValueData: bytes("new")], refusal),
                .add(item, .duplicate),
                .delete(item.query.with(userInterface(kSecUseAuthenticationUIFail)), .success),
                .find(data, .notFound),
            ]
        }
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            // Nobody comes to the reader, and there is nothing to ask for the passcode with.
            keychain.reader.enroll(1)
            keychain.reader.losePatience()
            keychain.run(rows)
        }
    }

    @Test("T10.12 Skipping leaves the items that need nobody", arguments: KeychainHost.everyHost)
    func skippingLeavesTheOthers(host: KeychainHost) throws {
        let control = try #require(make(kSecAttrAccessibleWhenUnlocked, .userPresence))
        let all: Item = [
            kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
        ]
        let skip = userInterface(kSecUseAuthenticationUISkip)
        try table(
            host,
            [
                .setPasscode("1234"),
                .add(Fixtures.generic.with([kSecAttrAccount: "b", kSecAttrAccessControl: control]), .success),
                .add(Fixtures.generic, .success),
                .find(all, .interactionNotAllowed),
                .find(all.with(skip), .data(inAnyOrder: [Fixtures.secret])),
                .find(all.with(skip).without(kSecMatchLimit), .data(Fixtures.secret)),
            ])
    }

    @Test(
        "T10.15 Only a search can skip, and the user interface is named by a string",
        arguments: KeychainHost.everyHost)
    func onlySearchesSkip(host: KeychainHost) throws {
        let item = Fixtures.generic
        let skip = userInterface(kSecUseAuthenticationUISkip)
        try table(
            host,
            [
                .add(item.with(skip), .parameter),
                .find(item.query, .notFound),
                .add(item.with(userInterface(kSecUseAuthenticationUIFail)), .success),
                .update(item.query.with(skip), [kSecAttrLabel: "new"], .parameter),
                .delete(item.query.with(skip), .parameter),
                .find(item.query.with([kSecUseAuthenticationUI: 1]), .parameter),
                .find(item.query, .success),
            ])
    }

    @Test("T10.16 What is no access control is refused under that key", arguments: KeychainHost.everyHost)
    func accessControlIsAnObject(host: KeychainHost) throws {
        let item = Fixtures.generic
        let text: Item = [kSecAttrAccessControl: "text"]
        try table(
            host,
            [
                .add(item.with(text), .parameter),
                .find(item.query, .notFound),
                .add(item, .success),
                .find(item.query.with(text), .parameter),
                .update(item.query.with(text), [kSecAttrLabel: "new"], .parameter),
                .update(item.query, text, .parameter),
                .delete(item.query.with(text), .parameter),
                .find(item.query, .success),
            ])
    }

    @Test("T10.17 An access control and another protection contradict each other", arguments: KeychainHost.everyHost)
    func contradictionIsRefused(host: KeychainHost) throws {
        let item = Fixtures.generic
        let free = try #require(make(kSecAttrAccessibleWhenUnlocked, []))
        let constrained = try #require(make(kSecAttrAccessibleWhenUnlocked, .userPresence))
        func both(_ control: SecAccessControl, _ protection: CFString) -> Item {
            [kSecAttrAccessControl: control, kSecAttrAccessible: protection]
        }
        try table(
            host,
            [
                .add(item.with(both(free, kSecAttrAccessibleAlways)), .parameter),
                .add(item.with(both(constrained, kSecAttrAccessibleWhenUnlocked)), .parameter),
                .find(item.query, .notFound),
                .add(item.with(both(free, kSecAttrAccessibleWhenUnlocked)), .success),
                .update(item.query, both(free, kSecAttrAccessibleAfterFirstUnlock), .parameter),
                .find(item.query.with(both(free, kSecAttrAccessibleWhenUnlocked)), .success),
            ])
    }

    @Test("T10.20 Without a passcode nothing is stored under it", arguments: KeychainHost.everyHost)
    func passcodeProtectionNeedsAPasscode(host: KeychainHost) throws {
        let control = try #require(make(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, []))
        let rows = Fixtures.everyStored.flatMap { item -> [Row] in
            [
                .add(item.with([kSecAttrAccessControl: control]), .authenticationFailed),
                .add(
                    item.with([kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly]),
                    .authenticationFailed),
                .find(item.query, .notFound),
            ]
        }
        try table(host, rows)
    }
}

private func make(_ protection: CFString, _ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
    SecAccessControlCreateWithFlags(nil, protection, flags, nil)
}

private func userInterface(_ choice: CFString) -> Item { [kSecUseAuthenticationUI: choice] }
