import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// An index in which entries lead to what is no number: one flipped byte of a record's header makes a text of one.
@Suite struct EditedIndexTests {
    @Test(
        "An entry that leads to a text, to bytes or to half a number makes no search endless",
        .timeLimit(.minutes(1)), arguments: ["'x'", "'2abc'", "x'00'", "x'ff'", "1.5", "-1", "0"])
    func endless(value: String) throws {
        try withClosedStore({
            for account in ["ann", "bob"] { try $0.add(.password(account)) }
        }) { store in
            try store.edit("INSERT OR IGNORE INTO entry SELECT DISTINCT token, \(value) FROM entry")
            let engine = try store.open()
            for account in ["ann", "bob"] {
                let query = ItemQuery.password([.account: .text(account), .service: .text("service")], limit: .all)
                #expect(try engine.find(query).count == 1)
            }
            #expect(try engine.find(.password([.service: .text("service")], limit: .all)).count == 2)
            #expect(try !engine.findings().isEmpty)
            var changes = ItemChanges()
            changes.attributes = [.label: .text("new")]
            let query = ItemQuery.password([.service: .text("service")])
            _ = try engine.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
            _ = try engine.handle(.delete(query), from: caller)
            #expect(throws: KeychainError.self) { try engine.find(query) }
        }
    }

    @Test("Where every entry leads to a text, a search ends and finds nothing", .timeLimit(.minutes(1)))
    func nothingLeft() throws {
        try withClosedStore({ try $0.add(.password("ann")) }) { store in
            try store.edit("UPDATE entry SET item = 'x'")
            let engine = try store.open()
            let error = #expect(throws: KeychainError.self) { try engine.secret(of: "ann") }
            #expect(error?.code == .itemNotFound)
            // Not by the index of values, it is there.
            #expect(try engine.find(.password(limit: .all)).count == 1)
            #expect(try !engine.findings().isEmpty)
        }
    }
}
