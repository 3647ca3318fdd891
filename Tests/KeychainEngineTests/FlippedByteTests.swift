import Foundation
import KeychainEngine
import KeychainModel
import KeychainSalvage
import KeychainTestSupport
import Testing

/// One flipped byte in every file of a small store. The log has a suite of its own,
/// ``DamagedLogTests``.
@Suite struct FlippedByteTests {
    /// A secret that goes on in other pages, one that does not, and an item without one.
    private static let secrets: [String: String?] = [
        "ann": "ann's", "bob": String(repeating: "bob's ", count: 120), "cid": nil,
    ]

    /// With small pages: everything a large store has, in few bytes.
    private func withSmallStore<R>(_ body: (ClosedStore) throws -> R) throws -> R {
        try withClosedStore({ engine in
            for (name, secret) in Self.secrets.sorted(by: { $0.key < $1.key }) {
                try engine.add(.password(name, secret: secret))
            }
        }) { store in
            try store.setPageSize(512)
            try store.removeLog()
            return try body(store)
        }
    }

    /// What a store with a damaged byte answers.
    private enum Outcome: Equatable {
        case exact
        /// Refused as a whole.
        case refused
        /// Some items were not found, and a check says that something is wrong.
        case reported(missing: [String])
        case silentlyMissing([String])
        case wrong(String)
    }

    private func outcome(_ store: ClosedStore) throws -> Outcome {
        do {
            let engine = try store.open()
            var missing: [String] = []
            for (name, secret) in Self.secrets {
                switch try engine.answer(name, secret.map { Data($0.utf8) }) {
                case .none: missing.append(name)
                case .some(true): break
                case .some(false): return .wrong(name)
                }
            }
            let listed = try engine.count()
            if missing.isEmpty && listed == Self.secrets.count { return .exact }
            return try engine.findings().isEmpty ? .silentlyMissing(missing) : .reported(missing: missing)
        } catch {
            guard let code = (error as? KeychainError)?.code, [.notAvailable, .inputOutput].contains(code) else {
                throw error
            }
            return .refused
        }
    }

    @Test("Of the database: never wrong data, never a crash, and whatever is missing is reported")
    func database() throws {
        try withSmallStore { store in
            let intact = try Data(contentsOf: store.database)
            let file = try FileHandle(forUpdating: store.database)
            var (exact, refused, reported) = (0, 0, 0)
            let offsets = stride(from: 0, to: intact.count, by: Effort.stride(17))
            for offset in offsets {
                try file.seek(toOffset: UInt64(offset))
                try file.write(contentsOf: [intact[offset] ^ 0xff])
                switch try outcome(store) {
                case .exact: exact += 1
                case .refused: refused += 1
                case .reported: reported += 1
                case let other: Issue.record("offset \(offset): \(other)")
                }
                try file.seek(toOffset: UInt64(offset))
                try file.write(contentsOf: [intact[offset]])
            }
            #expect(try outcome(store) == .exact)
            #expect(try Data(contentsOf: store.database) == intact)
            #expect([refused, reported, exact].allSatisfy { $0 > intact.count / Effort.stride(17) / 100 })
            print(
                "flipped bytes of the database: \(exact + refused + reported) of \(intact.count) offsets, \(exact) without effect, "
                    + "\(refused) refused, \(reported) with items missing and reported")
        }
    }

    @Test("Of the database: what opened before a renewal of keys and a removal of the passcode opens after them")
    func renewal() throws {
        try withSmallStore { store in
            let intact = try store.files.map { ($0, try Data(contentsOf: $0)) }
            let size = try Data(contentsOf: store.database).count
            var (renewed, refused, kept) = (0, 0, 0)
            // One of them, in the header, makes a database one that is only read.
            for offset in [18] + stride(from: 0, to: size, by: Effort.stride(157)) {
                for (file, bytes) in intact { try bytes.write(to: file) }
                try store.removeLog()
                var damaged = try Data(contentsOf: store.database)
                damaged[offset] ^= 0xff
                try damaged.write(to: store.database, options: [])
                switch try outcomeOfRenewal(store) {
                case .exact: renewed += 1
                case .refused: refused += 1
                case .reported: kept += 1
                case let other: Issue.record("offset \(offset): \(other)")
                }
            }
            #expect(renewed > 0 && refused > 0 && kept > 0)
            print(
                "flipped bytes and a renewal: \(renewed) without effect, \(refused) refused, \(kept) with former keys kept"
            )
        }
    }

    @Test(
        "Of the database: what opened before another item went, and its space with it, opens afterwards, if need be by a repair"
    )
    func deletion() throws {
        try withSmallStore { store in
            let intact = try store.files.map { ($0, try Data(contentsOf: $0)) }
            let size = try Data(contentsOf: store.database).count
            var (deleted, refused, repaired) = (0, 0, 0)
            for offset in stride(from: 0, to: size, by: Effort.stride(37)) {
                for (file, bytes) in intact { try bytes.write(to: file) }
                try store.removeLog()
                var damaged = try Data(contentsOf: store.database)
                damaged[offset] ^= 0xff
                try damaged.write(to: store.database, options: [])
                guard let missing = try missingAfterDeletion(store) else {
                    refused += 1
                    continue
                }
                deleted += 1
                if missing.isEmpty { continue }
                #expect(isReported(store), "offset \(offset)")
                _ = try StoreRepair(.test(in: store.directory)).run(passcode: { .of("") }, progress: { _, _ in })
                #expect(try Set(exact(store.open())).isSuperset(of: missing), "offset \(offset)")
                repaired += 1
            }
            #expect(deleted > 0 && refused > 0)
            print("flipped bytes and a deletion: \(deleted) without effect, \(refused) refused, \(repaired) repaired")
            for (file, bytes) in intact { try bytes.write(to: file) }
            try store.removeLog()
            #expect(try missingAfterDeletion(store) == [])
            #expect(try Data(contentsOf: store.database).count < size)
        }
    }

    /// Whether a check finds something wrong, or the database is refused by now.
    private func isReported(_ store: ClosedStore) -> Bool {
        do throws(KeychainError) {
            return try !store.open().findings().isEmpty
        } catch {
            return error.signal == .damage
        }
    }

    /// Deletes one item.
    ///
    /// - Returns: those of the others that were found before and are not afterwards; nil: it was refused, or not found.
    private func missingAfterDeletion(_ store: ClosedStore) throws -> Set<String>? {
        do {
            let engine = try store.open()
            defer { engine.prepareForExit() }
            let before = try exact(engine)
            _ = try engine.handle(.delete(.password([.account: .text("bob")])), from: caller)
            return Set(before).subtracting(["bob"]).subtracting(try exact(engine))
        } catch let error as KeychainError
            where [
                .notAvailable, .inputOutput, .readOnly, .diskFull, .itemNotFound,
            ].contains(error.code)
        {
            return nil
        }
    }

    /// The items that are what they should be.
    private func exact(_ engine: Engine) throws -> [String] {
        try Self.secrets.keys.sorted().filter {
            try engine.answer($0, Self.secrets[$0]!.map { Data($0.utf8) }) == true
        }
    }

    /// Sets a passcode, renews all keys and removes it again. `.reported` if items are missing, before and after, and their
    /// keys are there: the former ones, or new ones in rows of which the secret alone is damaged.
    private func outcomeOfRenewal(_ store: ClosedStore) throws -> Outcome {
        do {
            let engine = try store.open()
            let before = try exact(engine)
            var isRefused = false
            do {
                try engine.setPasscode("1234")
                try engine.changePasscode(from: "1234", to: "5678", rekey: true)
                _ = try engine.handle(.passcode(.remove(old: .of("5678"))), from: .owner)
            } catch let error as KeychainError where [.notAvailable, .inputOutput].contains(error.code) {
                isRefused = true
            }
            let after = try exact(engine)
            engine.withdrawKeys()
            guard Set(after).isSuperset(of: before) else {
                return .silentlyMissing(before.filter { !after.contains($0) })
            }
            if isRefused { return .refused }
            if after.count == Self.secrets.count { return .exact }
            let hasKeys = try engine.lockStatus().isRekeying || engine.listedCount() == Self.secrets.count
            return hasKeys ? .reported(missing: []) : .silentlyMissing(Self.secrets.keys.filter { !after.contains($0) })
        } catch let error as KeychainError where [.notAvailable, .inputOutput].contains(error.code) {
            return .refused
        }
    }

    @Test("Of the keybag and of the device key: the store is refused, and nothing is made in its place")
    func keys() throws {
        try withSmallStore { store in
            for file in [store.keybag, store.deviceKey] {
                let intact = try Data(contentsOf: file)
                for offset in intact.indices {
                    var damaged = intact
                    damaged[offset] ^= 0xff
                    try damaged.write(to: file, options: [])
                    #expect(try outcome(store) == .refused, "\(file.lastPathComponent), offset \(offset)")
                    #expect(try Data(contentsOf: file) == damaged)
                }
                try intact.write(to: file, options: [])
            }
            #expect(try outcome(store) == .exact)
        }
    }

    @Test("Of what tells of the lock: nothing that matters")
    func lockState() throws {
        try withSmallStore { store in
            _ = try store.open().count()
            let file = store.storeDirectory.appendingPathComponent("lock-state")
            let intact = try Data(contentsOf: file)
            #expect(intact.count == 80)
            for offset in intact.indices {
                var damaged = intact
                damaged[offset] ^= 0xff
                try damaged.write(to: file, options: [])
                #expect(try outcome(store) == .exact)
            }
        }
    }
}

extension Engine {
    fileprivate func count() throws -> Int { try orNothing { try find(.password(limit: .all)).count } ?? 0 }

    /// How many items there are of which at least everything but the secret opens.
    fileprivate func listedCount() throws -> Int {
        try orNothing { try find(.password(limit: .all), secrets: false).count } ?? 0
    }

    /// Whether an item is what it should be; nil if it is not found.
    fileprivate func answer(_ name: String, _ secret: Data?) throws -> Bool? {
        try orNothing {
            let found = try find(.password([.account: .text(name)])).first
            return found?.attributes[.account] == .text(name) && found?.secret?.copyData() == secret
        }
    }

    private func orNothing<R>(_ body: () throws -> R) throws -> R? {
        do {
            return try body()
        } catch {
            guard (error as? KeychainError)?.code == .itemNotFound else { throw error }
            return nil
        }
    }
}
