import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

@Suite struct StatementTests {
    @Test("A statement that is used within itself is refused, and what was read of the row outside is still right")
    func nested() throws {
        try withKeychain { test in
            try test.handler.add(.password("a"))
            try test.handler.add(.password("b"))
            try test.engine.store.read { connection in
                let first = try #require(try connection.nextItem(from: 1))
                let second = try #require(try connection.nextItem(from: first + 1))
                let same = try connection.withRow(first) { row in
                    let (uuid, bytes) = (row.uuid, Data(row.metadata))
                    #expect(throws: KeychainError.self) { try connection.withRow(second) { $0.uuid } }
                    #expect(throws: KeychainError.self) { try connection.read { _ in } }
                    // Another kind of statement may be used within.
                    let other = try connection.withRow(second, secrets: true) { $0.uuid }
                    #expect(other != nil && other != uuid)
                    return row.uuid == uuid && Data(row.metadata) == bytes
                }
                #expect(same == true)
                // One after the other is fine, also behind a refusal.
                #expect(try connection.withRow(second) { $0.uuid } != nil)
            }
        }
    }
}
