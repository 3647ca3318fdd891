import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T13: what opens in which state of the lock.
struct T13LockTests {
    private var whenUnlocked: [CFString] {
        [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
        ]
    }
    private var afterFirstUnlock: [CFString] {
        [kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly]
    }
    private var always: [CFString] { [kSecAttrAccessibleAlways, kSecAttrAccessibleAlwaysThisDeviceOnly] }

    private func item(_ accessible: CFString, account: String = "a") -> Item {
        Fixtures.generic.with([kSecAttrAccessible: accessible, kSecAttrAccount: account])
    }

    private let data: Item = [kSecReturnData: true]
    private let attributes: Item = [kSecReturnAttributes: true]

    @Test("T13.1 T13.2 An add while locked is refused, duplicate or not", arguments: KeychainHost.everyHost)
    func addWhileLocked(host: KeychainHost) throws {
        for accessible in whenUnlocked {
            let item = item(accessible)
            try table(
                host,
                [
                    .setPasscode("1234"), .lock(),
                    .add(item, .interactionNotAllowed),
                    .unlock("1234"), .add(item, .success),
                    .lock(), .add(item, .interactionNotAllowed),
                    .unlock("1234"), .add(item, .duplicate),
                ])
        }
    }

    @Test("T13.3 T13.4 T13.5 A locked item is refused whatever is asked of it", arguments: KeychainHost.everyHost)
    func readWhileLocked(host: KeychainHost) throws {
        for accessible in whenUnlocked {
            let item = item(accessible)
            try table(
                host,
                [
                    .setPasscode("1234"), .add(item, .success),
                    .find(item.query.with(data), .data(Fixtures.secret)),
                    .lock(),
                    .find(item.query.with(data), .interactionNotAllowed),
                    .find(item.query.with(attributes), .interactionNotAllowed),
                    .find(item.query, .interactionNotAllowed),
                    .find(item.query.with([kSecMatchLimit: kSecMatchLimitAll]), .interactionNotAllowed),
                    .unlock("1234"), .find(item.query.with(data), .data(Fixtures.secret)),
                ])
        }
    }

    @Test("T13.6 Items for after the first unlock open while locked", arguments: KeychainHost.everyHost)
    func afterFirstUnlockWhileLocked(host: KeychainHost) throws {
        for accessible in afterFirstUnlock + always {
            let item = item(accessible)
            try table(
                host,
                [
                    .setPasscode("1234"), .add(item, .success), .lock(),
                    .find(item.query.with(data), .data(Fixtures.secret)),
                    .update(item.query, [kSecValueData: bytes("q")], .success),
                    .find(item.query.with(data), .data(bytes("q"))),
                    .add(item, .duplicate),
                    .add(self.item(accessible, account: "b"), .success),
                    .delete(item.query, .success), .find(item.query, .notFound),
                ])
        }
    }

    @Test("T13.7 T13.8 Before the first unlock only what is always accessible opens", arguments: KeychainHost.everyHost)
    func beforeFirstUnlock(host: KeychainHost) throws {
        for accessible in whenUnlocked + afterFirstUnlock {
            let item = item(accessible)
            try table(
                host,
                [
                    .setPasscode("1234"), .add(item, .success), .restart(),
                    .find(item.query.with(data), .interactionNotAllowed),
                    .find(item.query.with(attributes), .interactionNotAllowed),
                    .add(item, .interactionNotAllowed),
                    .add(self.item(accessible, account: "b"), .interactionNotAllowed),
                    .unlock("1234"), .find(item.query.with(data), .data(Fixtures.secret)),
                ])
        }
        for accessible in always {
            let item = item(accessible)
            try table(
                host,
                [
                    .setPasscode("1234"), .add(item, .success), .restart(),
                    .find(item.query.with(data), .data(Fixtures.secret)), .add(item, .duplicate),
                    .add(self.item(accessible, account: "b"), .success),
                    .update(item.query, [kSecAttrLabel: "L"], .success),
                    .delete(item.query, .success),
                ])
        }
    }

    @Test("T13.9 One locked row among several refuses the whole call", arguments: KeychainHost.everyHost)
    func mixedResult(host: KeychainHost) throws {
        let all: Item = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s", kSecMatchLimit: kSecMatchLimitAll]
        try table(
            host,
            [
                .setPasscode("1234"), .add(item(kSecAttrAccessibleAlways, account: "d"), .success),
                .add(item(kSecAttrAccessibleAfterFirstUnlock, account: "c"), .success),
                .add(item(kSecAttrAccessibleWhenUnlocked, account: "a"), .success),
                .find(all.with(data), .array(of: 3)),
                .lock(), .find(all.with(data), .interactionNotAllowed),
                .find(all.with(attributes), .interactionNotAllowed),
                .find(all.with(data).with([kSecAttrAccount: "c"]), .data(inAnyOrder: [Fixtures.secret])),
                .find(
                    all.with(data).with([kSecAttrAccessible: kSecAttrAccessibleAlways]),
                    .data(inAnyOrder: [Fixtures.secret])),
            ])
    }

    @Test("T13.10 A locked item is not updated, and nothing else of the call is", arguments: KeychainHost.everyHost)
    func updateWhileLocked(host: KeychainHost) throws {
        let open = item(kSecAttrAccessibleAfterFirstUnlock, account: "c")
        let query: Item = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s"]
        try table(
            host,
            [
                .setPasscode("1234"), .add(open, .success), .add(item(kSecAttrAccessibleWhenUnlocked), .success),
                .lock(), .update(query, [kSecAttrLabel: "new"], .interactionNotAllowed),
                .update(item(kSecAttrAccessibleWhenUnlocked).query, [kSecAttrLabel: "new"], .interactionNotAllowed),
                .find(open.query.with([kSecAttrLabel: "new"]), .notFound),
                // Into a class whose key is locked away: the new row could not be sealed.
                .update(
                    open.query, [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked], .interactionNotAllowed),
                .find(open.query.with(data), .data(Fixtures.secret)),
            ])
    }

    @Test("T13.11 A locked item can be deleted", arguments: KeychainHost.everyHost)
    func deleteWhileLocked(host: KeychainHost) throws {
        let item = item(kSecAttrAccessibleWhenUnlocked)
        let other = self.item(kSecAttrAccessibleWhenUnlockedThisDeviceOnly, account: "b")
        try table(
            host,
            [
                .setPasscode("1234"), .add(item, .success), .add(other, .success), .lock(),
                .delete(item.query, .success), .delete(item.query, .notFound), .find(item.query, .notFound),
                .find(other.query, .interactionNotAllowed),
                .unlock("1234"), .find(item.query, .notFound),
                .find(other.query.with(data), .data(Fixtures.secret)),
            ])
    }

    @Test("C.28 While locked, not found is said only when it is certain", arguments: KeychainHost.everyHost)
    func notFoundIsCertain(host: KeychainHost) throws {
        let item = item(kSecAttrAccessibleWhenUnlocked)
        try table(
            host,
            [
                .setPasscode("1234"), .add(item, .success), .lock(),
                .find(item.query.with([kSecAttrAccount: "other"]), .notFound),
                .delete(item.query.with([kSecAttrAccount: "other"]), .notFound),
                .find(Fixtures.internet.query, .notFound),
                .restart(),
                // Which accounts there are is not known now; that there is no internet password is.
                .find(
                    item.query.with([kSecAttrAccount: "other", kSecAttrAccessible: kSecAttrAccessibleAlways]),
                    .notFound),
                .find(
                    item.query.without(kSecAttrAccessible).with([kSecAttrAccount: "other"]), .interactionNotAllowed),
                .delete(
                    item.query.without(kSecAttrAccessible).with([kSecAttrAccount: "other"]), .interactionNotAllowed),
                .find(Fixtures.internet.query, .notFound),
            ])
    }

    @Test("C.29 Before the first unlock an item that may be a duplicate is not added", arguments: KeychainHost.everyHost)
    func duplicateIsUncertain(host: KeychainHost) throws {
        try table(
            host,
            [
                .setPasscode("1234"), .add(item(kSecAttrAccessibleWhenUnlocked), .success), .restart(),
                .add(item(kSecAttrAccessibleAlways), .interactionNotAllowed),
                .add(Fixtures.internet.with([kSecAttrAccessible: kSecAttrAccessibleAlways]), .success),
                .unlock("1234"), .lock(),
                // After it, the index tells them apart: this one is there, in a row that is locked.
                .add(item(kSecAttrAccessibleAlways), .interactionNotAllowed),
                .add(item(kSecAttrAccessibleAlways, account: "b"), .success),
                .unlock("1234"), .add(item(kSecAttrAccessibleAlways), .duplicate),
            ])
    }

    @Test("C.30 An item that is always accessible satisfies a search for one", arguments: KeychainHost.everyHost)
    func satisfiedBeforeFirstUnlock(host: KeychainHost) throws {
        let query: Item = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s"]
        try table(
            host,
            [
                .setPasscode("1234"), .add(item(kSecAttrAccessibleAlways, account: "d"), .success),
                .add(item(kSecAttrAccessibleWhenUnlocked), .success), .restart(),
                .find(query.with(data), .data(Fixtures.secret)),
                .find(query.with(data).with([kSecMatchLimit: kSecMatchLimitAll]), .interactionNotAllowed),
            ])
    }

    @Test("C.31 A persistent reference to a locked item is refused, and deletes it", arguments: KeychainHost.everyHost)
    func persistentReference(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let reference = try reference(adding: item(kSecAttrAccessibleWhenUnlocked))
            let query: Item = [kSecValuePersistentRef: reference]
            keychain.run([
                .lock(), .find(query.with(data), .interactionNotAllowed),
                .restart(), .find(query.with(data), .interactionNotAllowed), .delete(query, .interactionNotAllowed),
                .unlock("1234"), .lock(), .delete(query, .success), .find(query.with(data), .notFound),
            ])
        }
    }

    @Test("C.32 Without a passcode there is nothing for items that need one", arguments: KeychainHost.everyHost)
    func whenPasscodeSet(host: KeychainHost) throws {
        let item = item(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
        try table(
            host,
            [
                .add(item, .authenticationFailed), .setPasscode("1234"), .add(item, .success),
                .find(item.query.with(data), .data(Fixtures.secret)), .lock(),
                .find(item.query.with(data), .interactionNotAllowed),
            ])
    }

    @Test("C.33 An identity is locked with either of its halves", arguments: KeychainHost.everyHost)
    func identity(host: KeychainHost) throws {
        try table(
            host,
            [
                .setPasscode("1234"), .add(Fixtures.certificate, .success), .add(Fixtures.privateKey, .success),
                .find(Fixtures.identity.with(attributes), .success), .lock(),
                .find(Fixtures.identity.with(attributes), .interactionNotAllowed),
                .find(Fixtures.certificate.query.with(data), .data(Fixtures.certificateBytes)),
            ])
    }
}
