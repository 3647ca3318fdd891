import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// What is deleted is space again.
@Suite struct SpaceTests {
    private static let megabyte = String(repeating: "x", count: 1 << 20)

    private func size(_ store: ClosedStore) throws -> Int { try Data(contentsOf: store.database).count }

    @Test("The database shrinks when items go, wherever their pages are")
    func shrinking() throws {
        try withClosedStore({ engine in
            try engine.add(.password("before"))
            for number in 0..<4 { try engine.add(.password("large \(number)", secret: Self.megabyte)) }
            try engine.add(.password("after"))
            engine.prepareForExit()
        }) { store in
            #expect(try size(store) > 4 << 20)
            let engine = try store.open()
            for number in [2, 0, 3, 1] {
                _ = try engine.handle(.delete(.password([.account: .text("large \(number)")])), from: caller)
            }
            engine.prepareForExit()
            #expect(try size(store) < 200_000)
            #expect(try engine.secret(of: "before") == "secret" && engine.secret(of: "after") == "secret")
            #expect(try engine.findings().isEmpty)
        }
    }

    /// As the first programs made it: its pages do not say where they belong.
    private func withEarlyStore(_ body: (ClosedStore) throws -> Void) throws {
        try withClosedStore({ engine in
            try engine.add(.password("kept"))
            try engine.add(.password("large", secret: Self.megabyte + Self.megabyte))
        }) { store in
            try store.rewrite("PRAGMA auto_vacuum = NONE; VACUUM")
            try body(store)
        }
    }

    @Test("A store of an early program keeps its size until it is compacted, and shrinks by itself afterwards")
    func compaction() throws {
        try withEarlyStore { store in
            let engine = try store.open()
            _ = try engine.handle(.delete(.password([.account: .text("large")])), from: caller)
            engine.prepareForExit()
            #expect(try size(store) > 2 << 20)
            let note = try #require(try engine.notes().first)
            #expect(note.severity == .note && note.text.contains("2 MiB") && note.advice.contains("--compact"))

            let refused = #expect(throws: KeychainError.self) { try engine.handle(.compact, from: caller) }
            #expect(refused?.code == .missingEntitlement)
            _ = try engine.handle(.compact, from: .owner)
            #expect(try size(store) < 100_000)
            #expect(try engine.notes().isEmpty)
            #expect(try engine.secret(of: "kept") == "secret")

            try engine.add(.password("large", secret: Self.megabyte + Self.megabyte))
            _ = try engine.handle(.delete(.password([.account: .text("large")])), from: caller)
            engine.prepareForExit()
            #expect(try size(store) < 100_000)
        }
    }

    @Test("A locked store is compacted too, and other programs go on with it")
    func lockedCompaction() throws {
        try withEarlyStore { store in
            let engine = try store.open()
            let other = try store.open()
            #expect(try other.secret(of: "kept") == "secret")
            try engine.setPasscode("1234")
            _ = try engine.handle(.delete(.password([.account: .text("large")])), from: caller)
            _ = try engine.handle(.lock(.now), from: .owner)
            _ = try engine.handle(.compact, from: .owner)
            #expect(try size(store) < 100_000)
            _ = try other.handle(.unlock(.of("1234")), from: .owner)
            #expect(try other.secret(of: "kept") == "secret")
            try other.add(.password("new"))
            #expect(try engine.secret(of: "new") == "secret")
            engine.withdrawKeys()
        }
    }
}

extension Engine {
    /// What a check says of the database's size.
    fileprivate func notes() throws -> [StoreFinding] {
        guard case .checked(let findings) = try handle(.check, from: .owner) else { throw wrongReply }
        return findings.filter { $0.text.contains("free") }
    }
}
