import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

@Suite struct SearchTests {
    /// Few values and many items, so that every combination has matches, and entries that do not lead to one.
    private struct Sample {
        static let values = ["x", "y", "z"]
        var account: String
        var service: String
        var label: String
        var group: String
        var protection: Protection

        static func all(_ generator: inout some RandomNumberGenerator) -> [Sample] {
            (0..<120).map { number in
                Sample(
                    account: "\(values.randomElement(using: &generator)!)\(number % 20)",
                    service: "\(values.randomElement(using: &generator)!)\(number / 20)",
                    label: values.randomElement(using: &generator)!,
                    group: ["G", "H", "I"].randomElement(using: &generator)!,
                    protection: [.whenUnlocked, .afterFirstUnlock, .always].randomElement(using: &generator)!)
            }
        }
    }

    @Test("Any combination of attributes finds what a look at every item would", arguments: 0..<3)
    func againstModel(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        try withKeychain { keychain in
            let engine = keychain.engine
            let samples = Sample.all(&generator)
            for sample in samples {
                try engine.add(
                    .password(
                        sample.account, service: sample.service, label: sample.label, group: sample.group,
                        protection: sample.protection),
                    as: Caller(groups: [sample.group]))
            }
            for _ in 0..<200 {
                let wanted = samples.randomElement(using: &generator)!
                let parts = UInt8.random(in: 0..<32, using: &generator)
                var query = ItemQuery.password(limit: .all)
                if parts & 1 != 0 { query.attributes[.account] = .text(wanted.account) }
                if parts & 2 != 0 { query.attributes[.service] = .text(wanted.service) }
                if parts & 4 != 0 { query.attributes[.label] = .text(wanted.label) }
                if parts & 8 != 0 { query.protection = wanted.protection }
                let groups = parts & 16 != 0 ? ["G"] : ["G", "I"]
                let expected = samples.filter {
                    groups.contains($0.group)
                        && (parts & 1 == 0 || $0.account == wanted.account)
                        && (parts & 2 == 0 || $0.service == wanted.service)
                        && (parts & 4 == 0 || $0.label == wanted.label)
                        && (parts & 8 == 0 || $0.protection == wanted.protection)
                }
                let found = (try? engine.find(query, as: Caller(groups: groups))) ?? []
                #expect(Set(found.map(\.name)) == Set(expected.map { "\($0.account) \($0.service) \($0.group)" }))
                #expect(found.count == expected.count)
            }
        }
    }

    @Test("Every statement of a search goes by an index", arguments: StoreStatement.searches)
    func plans(statement: StoreStatement) throws {
        try withKeychain { keychain in
            let plan = try keychain.engine.store.read { connection in
                try connection.database.rows("EXPLAIN QUERY PLAN \(statement.sql)") { $0.text(3) }
            }
            #expect(!plan.isEmpty)
            #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
        }
    }

    @Test("A search that asks for attributes alone reads no secret")
    func attributesOnly() throws {
        try withClosedStore({ try $0.add(.password("ann", secret: String(repeating: "s", count: 100))) }) { store in
            try store.edit("UPDATE item SET secret = zeroblob(144)")
            let engine = try store.open()
            #expect(try engine.find(.password(), secrets: false).count == 1)
            // The control: with the secret, the same item does not open.
            #expect(throws: KeychainError.self) { try engine.find(.password(), secrets: true) }
        }
    }

    @Test("Only the rows that match are opened")
    func onlyMatches() throws {
        let opened = try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            for number in 0..<50 { try engine.add(.password("\(number)")) }
            var seen = 0
            try engine.store.read { connection in
                var query = ItemQuery.password([.account: .text("17")], limit: .all)
                query.synchronizable = .no
                try engine.items().forEachMatch(of: query, in: .some(["G"]), on: connection, wantsSecrets: false) { _ in
                    seen += 1
                    return true
                }
            }
            return seen
        }
        #expect(opened == 1)
    }

    @Test("The limit counts only what matches in the end")
    func limitAfterFilter() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            for (number, server) in ["other.org", "www.example.com", "example.com", "badexample.com"].enumerated() {
                var request = AddRequest(.internetPassword)
                request.attributes = [.server: .text(server), .port: .number(Int64(number))]
                try engine.add(request)
            }
            var query = ItemQuery(.internetPassword)
            query.hostOrSubdomainOf = "Example.com"
            query.limit = .atMost(2)
            #expect(
                try engine.find(query).map { $0.attributes[.server] } == [
                    .text("www.example.com"), .text("example.com"),
                ])
        }
    }
}

extension Item {
    fileprivate var name: String {
        guard case .text(let account)? = attributes[.account], case .text(let service)? = attributes[.service] else {
            return "?"
        }
        return "\(account) \(service) \(accessGroup)"
    }
}
