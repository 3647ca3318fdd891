import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// T12: many callers at once, and large secrets.
struct T12ConcurrencyTests {
    @Test("T12.2 Ten callers add twenty internet passwords each, and none is lost", arguments: KeychainHost.everyHost)
    func addsAreNotLost(host: KeychainHost) async throws {
        let callers = 10
        let each = 20
        try await withKeychain(host) { _ in
            let statuses = await everyWorker(callers) { worker in
                (0..<each).map { SecItemAdd(internet(port: worker * each + $0 + 1), nil) }
            }
            #expect(statuses.count == callers * each)
            #expect(statuses.allSatisfy { $0 == errSecSuccess }, "\(Set(statuses))")
            let query: Item = [
                kSecClass: kSecClassInternetPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
            ]
            let secrets: [Data] = try found(query)
            #expect(Set(secrets) == Set((1...callers * each).map { bytes("\($0)") }))
        }
    }

    @Test(
        "T12.4 Callers that create, change and delete one item get no answer but done, duplicate and not found",
        arguments: KeychainHost.everyHost)
    func racesHaveThreeAnswers(host: KeychainHost) async throws {
        let allowed = [errSecSuccess, errSecDuplicateItem, errSecItemNotFound]
        try await withKeychain(host) { _ in
            let statuses = await everyWorker(10) { worker in
                (0..<40).map { step in
                    switch (worker + step) % 4 {
                    case 0: SecItemAdd(internet(port: 1), nil)
                    case 1: SecItemUpdate(name(port: 1), [kSecValueData: bytes("\(worker)")] as Item as CFDictionary)
                    case 2: SecItemCopyMatching(name(port: 1), nil)
                    default: SecItemDelete(name(port: 1))
                    }
                }
            }
            #expect(statuses.count == 400)
            #expect(Set(statuses).isSubset(of: allowed), "\(Set(statuses))")
            #expect(statuses.contains(errSecSuccess))
            let last = SecItemCopyMatching(name(port: 1), nil)
            #expect(SecItemDelete(name(port: 1)) == last, "the store and its index agree")
        }
    }

    @Test("T12.4 Of many callers that add one item exactly one succeeds", arguments: KeychainHost.everyHost)
    func oneAddWins(host: KeychainHost) async throws {
        try await withKeychain(host) { _ in
            for port in 1...10 {
                let statuses = await everyWorker(8) { _ in [SecItemAdd(internet(port: port), nil)] }
                #expect(statuses.filter { $0 == errSecSuccess }.count == 1)
                #expect(statuses.filter { $0 == errSecDuplicateItem }.count == 7)
            }
        }
    }

    @Test("T12.4 Of many callers that delete one item exactly one succeeds", arguments: KeychainHost.everyHost)
    func oneDeleteWins(host: KeychainHost) async throws {
        try await withKeychain(host) { _ in
            for port in 1...10 {
                #expect(SecItemAdd(internet(port: port), nil) == errSecSuccess)
                let statuses = await everyWorker(8) { _ in [SecItemDelete(name(port: port))] }
                #expect(statuses.filter { $0 == errSecSuccess }.count == 1)
                #expect(statuses.filter { $0 == errSecItemNotFound }.count == 7)
            }
        }
    }

    @Test(
        "T12.5 Of a thousand items a search finds one, the one with an account, or all",
        arguments: KeychainHost.everyHost)
    func thousandItems(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            for number in 0..<1_000 {
                let item = Fixtures.generic.with([kSecAttrAccount: "\(number)", kSecValueData: bytes("\(number)")])
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            }
            let every: Item = [kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll]
            let one: Data = try found([kSecClass: kSecClassGenericPassword, kSecReturnData: true])
            #expect(Int(String(decoding: one, as: UTF8.self)) != nil)
            for number in [0, 499, 999] {
                let query = Fixtures.generic.query.with([kSecAttrAccount: "\(number)", kSecReturnData: true])
                #expect(try found(query) == bytes("\(number)"))
            }
            let expected = Set((0..<1_000).map { "\($0)" })
            let listed: [Attributes] = try found(every.with([kSecReturnAttributes: true]))
            #expect(
                listed.count == 1_000 && Set(listed.compactMap { $0[kSecAttrAccount as String] as? String }) == expected
            )
            let secrets: [Data] = try found(every.with([kSecReturnData: true]))
            #expect(secrets.count == 1_000 && Set(secrets.map { String(decoding: $0, as: UTF8.self) }) == expected)
        }
    }

    @Test(
        "T12.6 A secret of many megabytes comes back byte for byte",
        arguments: KeychainHost.everyHost, [1, 2, 5, 7, 10, 15, 20])
    func largeSecrets(host: KeychainHost, megabytes: Int) throws {
        let secret = pattern(count: megabytes << 20)
        let larger = Data([0xff]) + secret
        let item = Fixtures.generic.with([kSecValueData: secret])
        let query = item.query.with([kSecReturnData: true])
        try table(
            host,
            [
                .add(item, .success),
                .find(query, .data(secret)),
                .update(item.query, [kSecValueData: larger], .success),
                .find(query, .data(larger)),
                .delete(item.query, .success),
                .find(query, .notFound),
            ])
    }
}

/// What every worker answers, while all of them work at once.
///
/// Tasks, not threads: the store under test is bound to the task and its children.
private func everyWorker(
    _ count: Int, _ work: @escaping @Sendable (_ worker: Int) -> [OSStatus]
) async -> [OSStatus] {
    await withTaskGroup(of: [OSStatus].self) { group in
        for worker in 0..<count { group.addTask { work(worker) } }
        return await group.reduce(into: []) { $0 += $1 }
    }
}

/// An internet password of its own for every port, with the port as its secret.
private func internet(port: Int) -> CFDictionary {
    Fixtures.internet.with([kSecAttrPort: port, kSecValueData: bytes("\(port)")]) as CFDictionary
}

private func name(port: Int) -> CFDictionary {
    Fixtures.internet.query.with([kSecAttrPort: port]) as CFDictionary
}

/// Bytes that repeat with no power of two, so that a block in the wrong place shows.
private func pattern(count: Int) -> Data {
    let piece = Data((0..<251).map { UInt8($0) })
    var data = Data(capacity: count + piece.count)
    while data.count < count { data.append(piece) }
    return data.prefix(count)
}
