import Foundation
import KeychainCrypto
import KeychainModel
import KeychainSalvage
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// Changes of the passcode destroy nothing that a byte of the store, put right again, would open.
@Suite("Sound items and changes of the passcode")
struct SoundItemTests {
    private static let accounts = ["a", "b", "c"]

    private func withItems(_ body: (TestKeychain, ClosedStore) throws -> Void) throws {
        try withKeychain { keychain in
            for account in Self.accounts { try keychain.engine.add(.password(account, secret: "secret of \(account)")) }
            try keychain.engine.add(.password("always", secret: "secret of always", protection: .always))
            try body(keychain, ClosedStore(directory: keychain.directory))
        }
    }

    private func expectItems(_ keychain: TestKeychain, _ accounts: [String] = accounts + ["always"]) throws {
        for account in accounts { #expect(try keychain.engine.secret(of: account) == "secret of \(account)") }
        #expect(try keychain.engine.find(.password(limit: .all)).count == accounts.count)
    }

    @Test(
        "A renewal brings rows along whose group or row says something wrong of them",
        arguments: [
            "UPDATE home SET class = 5 WHERE class = 1", "UPDATE home SET class = 77",
            "UPDATE item SET home = home + 100",
            "UPDATE item SET generation = 2 WHERE id = 1", "UPDATE item SET generation = 77 WHERE id = 1",
        ])
    func mendedByRenewal(edit: String) throws {
        try withItems { keychain, store in
            try store.edit(edit)
            try keychain.setPasscode("1234")
            try expectItems(keychain)
            #expect(try keychain.keybag.keyGenerations == [2])
            #expect(try keychain.engine.generations().rows == [2])
            #expect(try keychain.engine.findings().isEmpty)
        }
    }

    @Test(
        "Former keys stay, behind the passcode, for as long as a row does not open",
        arguments: [
            ("metadata", "zeroblob(length(metadata))"), ("metadata_key", "zeroblob(40)"),
            ("secret_key", "zeroblob(40)"),
            ("access", "X'0700000000'"), ("version", "version + 1"), ("uuid", "zeroblob(16)"),
        ])
    func keptKeys(column: String, value: String) throws {
        try withItems { keychain, store in
            let intact = try #require(try store.value("SELECT \(column) FROM item WHERE id = 1"))
            try store.edit("UPDATE item SET \(column) = \(value) WHERE id = 1")
            try keychain.setPasscode("1234")
            #expect(try keychain.keybag.keyGenerations == [2, 1])
            let open = try keychain.keybag.entries.filter { $0.wrap == .deviceKey && $0.key.tier != .always }
            #expect(open.isEmpty)
            #expect(try keychain.lockStatus.isRekeying)
            #expect(try keychain.engine.findings().contains { $0.severity == .damage })
            for account in ["b", "c", "always"] {
                #expect(try keychain.engine.secret(of: account) == "secret of \(account)")
            }
            // Until the byte is right again, other renewals come and go.
            try keychain.engine.changePasscode(from: "1234", to: "5678", rekey: true)
            #expect(try keychain.keybag.keyGenerations == [3, 2, 1])
            try store.edit("UPDATE item SET \(column) = ? WHERE id = 1", [intact])
            try keychain.lock(.now)
            try keychain.unlock("5678")
            try keychain.engine.finishRekey(after: try keychain.engine.handle(.rekeyStep, from: .owner))
            #expect(try keychain.keybag.keyGenerations == [3])
            try expectItems(keychain)
            #expect(try keychain.engine.findings().isEmpty)
        }
    }

    @Test("Renewals that leave rows have an end, and no key is lost by it")
    func mostGenerations() throws {
        try withItems { keychain, store in
            try store.edit("UPDATE item SET version = version + 1 WHERE id = 1")
            try keychain.setPasscode("1234")
            for _ in 3...Keybag.mostGenerationsInUse {
                try keychain.engine.changePasscode(from: "1234", to: "1234", rekey: true)
            }
            let error = #expect(throws: KeychainError.self) {
                try keychain.engine.changePasscode(from: "1234", to: "1234", rekey: true)
            }
            #expect(error?.code == .notAvailable && error?.message.contains("doctor --repair") == true)
            try store.edit("UPDATE item SET version = version - 1 WHERE id = 1")
            try keychain.engine.finishRekey(after: try keychain.engine.handle(.rekeyStep, from: .owner))
            try expectItems(keychain)
            try keychain.engine.changePasscode(from: "1234", to: "1234", rekey: true)
            #expect(try keychain.keybag.keyGenerations.count == 1)
        }
    }

    @Test("A row that claims to need the passcode, and does not, outlives a passcode that is set")
    func claimWhileSetting() throws {
        try withItems { keychain, store in
            try store.edit("UPDATE item SET access = X'0c00000000' WHERE access = X'0800000000'")
            try keychain.setPasscode("1234")
            #expect(try keychain.engine.databaseRows().count == 4)
            #expect(try keychain.keybag.keyGenerations == [2, 1])
            try store.edit("UPDATE item SET access = X'0800000000' WHERE access = X'0c00000000'")
            try expectItems(keychain)
        }
    }

    @Test(
        "A row that claims to need the passcode, and does not, outlives its removal",
        arguments: ["X'0600000010'", "X'0c00000000'"])
    func claimWhileRemoving(access: String) throws {
        try withItems { keychain, store in
            try keychain.setPasscode("1234")
            try keychain.engine.add(.password("gone", protection: .whenPasscodeSetThisDeviceOnly))
            try store.edit("UPDATE item SET access = \(access) WHERE id = 1")
            _ = try keychain.engine.handle(.passcode(.remove(old: .of("1234"))), from: .owner)
            #expect(try keychain.engine.databaseRows().count == 4)
            try store.edit("UPDATE item SET access = X'0600000000' WHERE id = 1")
            try expectItems(keychain)
        }
    }

    @Test(
        "Two wrong bytes of a row delete it neither, whether a passcode is set or removed",
        arguments: [false, true])
    func twoWrongBytes(isRemoved: Bool) throws {
        try withItems { keychain, store in
            if isRemoved {
                try keychain.setPasscode("1234")
                try keychain.engine.add(.password("gone", protection: .whenPasscodeSetThisDeviceOnly))
            }
            let uuid = try #require(try store.value("SELECT uuid FROM item WHERE id = 1"))
            try store.edit("UPDATE item SET access = X'0c00000000', uuid = zeroblob(16) WHERE id = 1")
            if isRemoved { _ = try keychain.engine.handle(.passcode(.remove(old: .of("1234"))), from: .owner) }
            try keychain.setPasscode("5678")
            #expect(try keychain.engine.databaseRows().count == 4)
            try store.edit("UPDATE item SET access = X'0600000000', uuid = ? WHERE id = 1", [uuid])
            try expectItems(keychain)
        }
    }

    // MARK: What is in the way

    @Test("An import does not replace a newer item whose group says that it is of another class")
    func importOverWrongClass() throws {
        try withItems { keychain, store in
            guard case .exported(let old) = try keychain.engine.handle(.exportItems(ExportRequest()), from: .owner)
            else { throw keychain.engine.wrongReply }
            var changes = ItemChanges()
            changes.secret = .of("newer")
            for account in Self.accounts {
                _ = try keychain.engine.handle(
                    .update(UpdateRequest(.password([.account: .text(account)]), changes: changes)), from: caller)
            }
            try store.edit("UPDATE home SET class = 5 WHERE class = 1")
            guard
                case .imported(let outcomes) = try keychain.engine.handle(
                    .importItems(ImportRequest(old.items)), from: .owner)
            else { throw keychain.engine.wrongReply }
            #expect(outcomes.filter { $0 == .replaced }.isEmpty)
            try store.edit("UPDATE home SET class = 1 WHERE class = 5")
            for account in Self.accounts { #expect(try keychain.engine.secret(of: account) == "newer") }
        }
    }

    @Test("What the index wrongly leads to gives way to nothing that is added or imported")
    func wrongUniqueness() throws {
        try withItems { keychain, store in
            var request = AddRequest(.internetPassword)
            request.attributes = [.account: .text("ann"), .server: .text("example.org")]
            request.secret = .of("of the server")
            try keychain.engine.add(request)
            guard case .exported(let all) = try keychain.engine.handle(.exportItems(ExportRequest()), from: .owner)
            else { throw keychain.engine.wrongReply }
            try store.edit(
                """
                CREATE TEMP TABLE former AS SELECT id, uniqueness FROM item WHERE id IN (1, 5);
                UPDATE item SET uniqueness = zeroblob(16) WHERE id = 1;
                UPDATE item SET uniqueness = (SELECT uniqueness FROM former WHERE id = 1) WHERE id = 5;
                UPDATE item SET uniqueness = (SELECT uniqueness FROM former WHERE id = 5) WHERE id = 1;
                DROP TABLE former
                """)
            let refused = #expect(throws: KeychainError.self) {
                try keychain.engine.add(.password("a", secret: "other"))
            }
            #expect(refused?.code == .notAvailable && refused?.signal == .damage)
            var items = all.items.filter { $0.attributes[.account] == .text("a") }
            items[0].identifier = UUID()
            items[0].modified += 1000
            let alsoRefused = #expect(throws: KeychainError.self) {
                try keychain.engine.handle(.importItems(ImportRequest(items)), from: .owner)
            }
            #expect(alsoRefused?.signal == .damage)
            var server = ItemQuery(.internetPassword)
            server.attributes = [.account: .text("ann")]
            #expect(try keychain.engine.find(server).first?.secret?.copyData() == Data("of the server".utf8))
            #expect(try keychain.engine.secret(of: "a") == "secret of a")
        }
    }

    // MARK: Free pages

    @Test("No change leaves free pages behind, a list of which could name others")
    func noFreePages() throws {
        try withItems { keychain, store in
            for number in 0..<4 {
                try keychain.engine.add(.password("\(number)", secret: String(repeating: "x", count: 40_000)))
            }
            for number in [2, 0] {
                _ = try keychain.engine.handle(.delete(.password([.account: .text("\(number)")])), from: caller)
            }
            #expect(try store.value("PRAGMA freelist_count") == 0)
            var changes = ItemChanges()
            changes.secret = .of("small")
            _ = try keychain.engine.handle(
                .update(UpdateRequest(.password([.account: .text("1")]), changes: changes)), from: caller)
            #expect(try store.value("PRAGMA freelist_count") == 0)
            #expect(try keychain.engine.secret(of: "3")?.count == 40_000)
        }
    }

    enum Writing: CaseIterable { case add, firstPasscode, rekey }

    @Test("A list of free pages that names another page has nothing written over that", arguments: Writing.allCases)
    func damagedFreeList(writing: Writing) throws {
        try withClosedStore({ engine in
            for account in Self.accounts {
                try engine.add(.password(account, secret: String(repeating: account, count: 9_000)))
            }
            try engine.add(.password("gone", secret: String(repeating: "x", count: 40_000)))
        }) { store in
            // As early stores are, which keep free pages.
            try store.rewrite("PRAGMA auto_vacuum = NONE; VACUUM")
            let engine = try store.open()
            if writing == .rekey { try engine.setPasscode("1234") }
            _ = try engine.handle(.delete(.password([.account: .text("gone")])), from: caller)
            engine.prepareForExit()
            try nameLivePages(in: store)
            let damaged = try store.open()
            let refused = #expect(throws: KeychainError.self) {
                switch writing {
                case .add: try damaged.add(.password("large", secret: String(repeating: "y", count: 40_000)))
                case .firstPasscode: try damaged.setPasscode("1234")
                case .rekey: try damaged.changePasscode(from: "1234", to: "5678", rekey: true)
                }
            }
            #expect(refused?.code == .notAvailable && refused?.signal == .damage)
            if writing == .rekey { _ = try damaged.handle(.unlock(.of("1234")), from: .owner) }
            for account in Self.accounts {
                #expect(try damaged.secret(of: account) == String(repeating: account, count: 9_000))
            }
            damaged.withdrawKeys()
        }
    }

    /// Has the list of free pages (sqlite.org/fileformat.html, section 1.5) name pages that are in use.
    private func nameLivePages(in store: ClosedStore) throws {
        var bytes = try Data(contentsOf: store.database)
        func word(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        let trunk = (word(32) - 1) * 4096
        let count = word(trunk + 4)
        try #require(word(32) > 0 && count > 3)
        for index in 0..<count {
            // From the first pages on, all of which are in use.
            withUnsafeBytes(of: UInt32(2 + index % 8).bigEndian) { page in
                bytes.replaceSubrange(trunk + 8 + 4 * index..<trunk + 12 + 4 * index, with: page)
            }
        }
        try store.removeLog()
        try bytes.write(to: store.database, options: [])
    }

    // MARK: Erasures

    @Test("What an erasure left under a wrong class or generation is not taken for erased")
    func claimAfterErasure() throws {
        try withItems { keychain, store in
            try keychain.setPasscode("1234")
            try store.edit("UPDATE item SET access = X'0600000000' WHERE access = X'0800000000'")
            let bag = try keychain.keybag
            _ = try keychain.engine.keys.erase(bag)
            try keychain.engine.finishPendingRekey()
            #expect(try keychain.engine.databaseRows().count == 1)
            try store.edit("UPDATE item SET access = X'0800000000'")
            try keychain.engine.finishPendingRekey()
            try expectItems(keychain, ["always"])
            #expect(try keychain.keybag.keyGenerations.count == 1)
        }
    }

    @Test("A lost pair for secrets behind the passcode is told of, and not replaced while secrets are sealed for it")
    func lostPair() throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            var request = AddRequest.password("constrained", secret: "secret")
            request.accessControl = try AccessControl(.whenUnlocked, flags: .devicePasscode)
            try keychain.engine.add(request)
            let intact = try keychain.keybag
            var bag = intact
            bag.consent = nil
            let keys = keychain.engine.keys
            try keys.keybagFile.replace(with: bag, deviceKey: keys.deviceKey)
            let shown = AuthenticationProof(passcode: .of("1234"))
            let find = Request.authenticated(
                shown, .find(FindRequest(.password([.account: .text("constrained")]), wantsSecrets: true)))
            let engine = try Engine(keychain.configuration)
            try keychain.lock(.now)
            _ = try engine.handle(.unlock(.of("1234")), from: .owner)
            #expect(try keychain.keybag.consent == nil)
            let error = #expect(throws: KeychainError.self) { try engine.handle(find, from: caller) }
            #expect(error?.code == .notAvailable && error?.signal == .unusableKeybag)
            #expect(try engine.findings().contains { $0.severity == .damage && $0.text.contains("key pair") })
            try engine.changePasscode(from: "1234", to: "1234")
            #expect(try keychain.keybag.consent == nil)
            // The keybag of before opens it.
            var restored = intact
            restored.generation = try keychain.keybag.generation + 1
            try keys.keybagFile.replace(with: restored, deviceKey: keys.deviceKey)
            let again = try Engine(keychain.configuration)
            _ = try again.handle(.unlock(.of("1234")), from: .owner)
            guard case .found(let items) = try again.handle(find, from: caller) else { throw WrongReply() }
            #expect(items.first?.secret?.copyData() == Data("secret".utf8))
        }
    }

    @Test("A lost pair is replaced once nothing is sealed for it")
    func replacedPair() throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            var request = AddRequest.password("constrained")
            request.accessControl = try AccessControl(.whenUnlocked, flags: .devicePasscode)
            try keychain.engine.add(request)
            var bag = try keychain.keybag
            bag.consent = nil
            let keys = keychain.engine.keys
            try keys.keybagFile.replace(with: bag, deviceKey: keys.deviceKey)
            let engine = try Engine(keychain.configuration)
            _ = try engine.handle(.unlock(.of("1234")), from: .owner)
            #expect(try keychain.keybag.consent == nil)
            _ = try engine.handle(.delete(.password([.account: .text("constrained")])), from: caller)
            _ = try engine.handle(.unlock(.of("1234")), from: .owner)
            #expect(try keychain.keybag.consent != nil)
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("A repaired store that is emptied and loses its keybag is not taken for a new one")
    func repairedStoreHasFiles() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            do {
                let engine = try store.open()
                try engine.add(.password("a"))
                _ = try engine.fileKey(.make(.complete, fileID: UUID()), as: caller)
            }
            _ = try StoreRepair(.test(in: directory)).run(passcode: { .of("") }, progress: { _, _ in })
            do { _ = try store.open().handle(.delete(.password()), from: caller) }
            try FileManager.default.removeItem(at: store.keybag)
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.message.contains("its keybag is missing") == true)
        }
    }

    private struct WrongReply: Error {}
}
