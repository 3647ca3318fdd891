import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T14: items marked for synchronization are apart from the others.
struct T14SynchronizableTests {
    private let item = Fixtures.generic.with([kSecAttrSynchronizable: true])

    private func query(_ synchronizable: Any?) -> Item {
        let name = item.query.without(kSecAttrSynchronizable)
        return synchronizable.map { name.with([kSecAttrSynchronizable: $0]) } ?? name
    }

    @Test(
        "T14.1 T14.2 T14.3 T14.4 A synchronizable item is found by those who ask for such items alone",
        arguments: KeychainHost.everyHost)
    func foundByThoseWhoAsk(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .find(query(true), .success),
                .find(query(1), .success),
                .find(query("1"), .success),
                .find(query(kSecAttrSynchronizableAny), .success),
                .find(query(nil), .notFound),
                .find(query(false), .notFound),
                .find(query(0), .notFound),
                .find(query(true).with([kSecReturnAttributes: true]), .dictionary([kSecAttrSynchronizable: 1])),
            ])
    }

    @Test("T14.5 An update reaches a synchronizable item that it asks for", arguments: KeychainHost.everyHost)
    func updateReachesIt(host: KeychainHost) throws {
        let comment: Item = [kSecAttrComment: "new"]
        try table(
            host,
            [
                .add(item, .success),
                .update(query(nil), comment, .notFound),
                .update(query(true), comment, .success),
                .find(query(true).with(comment), .success),
                .find(query(kSecAttrSynchronizableAny).with(comment), .success),
            ])
    }

    @Test("T14.6 T14.7 A delete reaches a synchronizable item only if it asks for it", arguments: KeychainHost.everyHost)
    func deleteReachesIt(host: KeychainHost) throws {
        try table(
            host,
            [
                .add(item, .success),
                .delete(query(nil), .notFound),
                .delete(query(false), .notFound),
                .find(query(true), .success),
                .delete(query(true), .success),
                .find(query(kSecAttrSynchronizableAny), .notFound),
                .add(item, .success),
                .add(item.with([kSecAttrSynchronizable: false]), .success),
                .delete(query(kSecAttrSynchronizableAny), .success),
                .delete(query(kSecAttrSynchronizableAny), .notFound),
            ])
    }

    @Test(
        "C.4 An item of this device alone may be synchronizable, and is found as such",
        arguments: KeychainHost.everyHost)
    func thisDeviceOnly(host: KeychainHost) throws {
        let bound = Fixtures.everyProtection.filter { ($0 as String).hasSuffix("u") }
        let rows = bound.flatMap { protection -> [Row] in
            [
                .add(item.with([kSecAttrAccessible: protection]), .success),
                .find(query(true), .success),
                .find(query(false), .notFound),
                .delete(query(true), .success),
                .add(item, .success),
                .update(query(true), [kSecAttrAccessible: protection], .success),
                .find(query(true), .success),
                .delete(query(true), .success),
            ]
        }
        try table(host, rows)
    }
}
