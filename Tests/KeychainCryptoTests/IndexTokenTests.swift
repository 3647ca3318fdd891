import Foundation
import KeychainCrypto
import KeychainModel
import Testing

@Suite struct IndexTokenTests {
    private func indexer(_ key: UInt8 = 3) throws -> Indexer { try .repeating(key) }

    @Test("The same value gives the same token, and text the one of its bytes")
    func sameValue() throws {
        let indexer = try indexer()
        let token = indexer.token(for: .account, of: .genericPassword, value: .text("ann"))
        #expect(token == indexer.token(for: .account, of: .genericPassword, value: .text("ann")))
        #expect(token == indexer.token(for: .account, of: .genericPassword, value: .data(Data("ann".utf8))))
    }

    @Test("Attribute, class, value and key each change the token")
    func separation() throws {
        let indexer = try indexer()
        let tokens: Set<IndexToken> = [
            indexer.token(for: .account, of: .genericPassword, value: .text("ann")),
            indexer.token(for: .service, of: .genericPassword, value: .text("ann")),
            indexer.token(for: .account, of: .internetPassword, value: .text("ann")),
            indexer.token(for: .account, of: .genericPassword, value: .text("ann\0")),
            indexer.token(for: .account, of: .genericPassword, value: .text("")),
            indexer.token(for: .account, of: .genericPassword, value: .number(0)),
            try self.indexer(4).token(for: .account, of: .genericPassword, value: .text("ann")),
        ]
        #expect(tokens.count == 7)
    }

    @Test("Bytes that move from one attribute to the next do not make items equal")
    func noAmbiguity() throws {
        let indexer = try indexer()
        func token(_ account: String, _ service: String) -> IndexToken {
            indexer.uniquenessToken(
                itemClass: .genericPassword, accessGroup: "G", synchronizable: false,
                attributes: [.account: .text(account), .service: .text(service)])
        }
        #expect(token("ab", "c") != token("a", "bc"))
        #expect(token("", "abc") != token("abc", ""))
        #expect(token("a", "b") == token("a", "b"))
    }

    @Test("Uniqueness takes group and synchronizability, and an absent value for its default")
    func uniqueness() throws {
        let indexer = try indexer()
        func token(_ group: String, _ synchronizable: Bool, _ attributes: AttributeSet) -> IndexToken {
            indexer.uniquenessToken(
                itemClass: .genericPassword, accessGroup: group, synchronizable: synchronizable,
                attributes: attributes)
        }
        let plain = token("G", false, [.account: .text("a")])
        #expect(plain == token("G", false, [.account: .text("a"), .service: .text("")]))
        #expect(plain == token("G", false, [.account: .text("a"), .label: .text("other")]))
        #expect(plain != token("H", false, [.account: .text("a")]))
        #expect(plain != token("G", true, [.account: .text("a")]))
    }
}
