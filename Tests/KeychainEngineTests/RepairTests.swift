import Foundation
import KeychainCrypto
import KeychainModel
import KeychainSalvage
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// What `keychainctl doctor --repair` saves of a damaged store.
@Suite struct RepairTests {
    private static let names = (1...30).map { "item-\($0)" }

    private func withStore<R>(_ body: (ClosedStore) throws -> R) throws -> R {
        try withClosedStore(
            { engine in
                for name in Self.names { try engine.add(.password(name, secret: "secret of \(name)", label: "label")) }
            }, body)
    }

    @discardableResult
    private func repair(_ store: ClosedStore, passcode: String? = nil) throws -> RepairReport {
        try StoreRepair(.test(in: store.directory)).run(
            passcode: { SecretBytes.of(try #require(passcode)) }, progress: { _, _ in })
    }

    private func found(_ store: ClosedStore) throws -> [String] {
        let engine = try store.open()
        #expect(try engine.findings().isEmpty)
        return try Self.names.filter { name in
            do {
                return try engine.secret(of: name) == "secret of \(name)"
            } catch let error as KeychainError where error.code == .itemNotFound {
                return false
            }
        }
    }

    @Test("Of an intact store everything is saved, references, dates and large secrets included")
    func intact() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            let large = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try store.open().addOneOfEachClass(largeSecret: large)
            let before = try store.open().everything()
            #expect(before.count > 20)
            let report = try repair(store)
            #expect(report.savedCount == before.count && report.unreadableCount == 0)
            #expect(try store.open().everything() == before)
            #expect(try store.open().findings().isEmpty)
        }
    }

    @Test("A key in the engine is usable after a repair, and still in no answer")
    func keyInEngine() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            guard case .added(let key) = try store.open().handle(.makeKey(AddRequest(.key)), from: caller),
                case .data(let point)? = key.attributes[.tokenObjectID]
            else { throw KeychainError(.internalFailure, message: "no key was made") }
            #expect(try repair(store).savedCount == 1)
            let engine = try store.open()
            let digest = Data(repeating: 7, count: 32)
            let reply = try engine.handle(.useKey(KeyUse(key.persistentReference, .sign(digest: digest))), from: caller)
            guard case .keyResult(let signature) = reply else {
                throw KeychainError(.internalFailure, message: "the key was not used")
            }
            #expect(try ECKey(.p256, point: point).isSignature(signature.copyData(), ofDigest: digest))
            let found = try engine.handle(.find(FindRequest(ItemQuery(.key), wantsSecrets: true)), from: caller)
            guard case .found(let items) = found else { throw KeychainError(.internalFailure, message: "no answer") }
            #expect(items.count == 1 && items[0].secret == nil)
        }
    }

    @Test("What was deleted or replaced does not come back")
    func deleted() throws {
        try withStore { store in
            do {
                let engine = try store.open()
                for name in Self.names.dropLast(10) {
                    _ = try engine.handle(.delete(.password([.account: .text(name)])), from: caller)
                }
                var changes = ItemChanges()
                changes.secret = .of("secret of \(Self.names.last!)")
                let query = ItemQuery.password([.account: .text(Self.names.last!)])
                _ = try engine.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
            }
            #expect(try repair(store).savedCount == 10)
            #expect(try found(store) == Self.names.suffix(10))
        }
    }

    @Test("A lost page costs no more than the items on it, whichever it is")
    func lostPages() throws {
        try withStore { store in
            let intact = try Data(contentsOf: store.database)
            let pageSize = 4096
            var lost: [Int] = []
            for page in 0..<intact.count / pageSize {
                var damaged = intact
                damaged.replaceSubrange(page * pageSize..<(page + 1) * pageSize, with: Data(count: pageSize))
                try damaged.write(to: store.database)
                try repair(store)
                let saved = try found(store)
                lost.append(Self.names.count - saved.count)
                #expect(Self.names.count - saved.count <= 10, "page \(page + 1)")
            }
            // Most pages hold no rows; that some do shows that pages were lost at all.
            #expect(lost.count > 10 && lost.reduce(0, +) == Self.names.count)
        }
    }

    @Test(
        "Whatever byte of a page's structure is damaged, at most one item is lost", arguments: [0x01, 0xff] as [UInt8])
    func damagedStructure(flip: UInt8) throws {
        try withStore { store in
            let intact = try Data(contentsOf: store.database)
            let leaves = (1..<intact.count / 4096).map { $0 * 4096 }.filter { intact[$0] == 0x0d && intact[$0 + 4] > 1 }
            #expect(leaves.count >= 3)
            for leaf in leaves {
                // The header of the page, and where its first cells are.
                for offset in leaf..<leaf + 14 {
                    var damaged = intact
                    damaged[offset] ^= flip
                    try damaged.write(to: store.database)
                    try repair(store)
                    #expect(try found(store).count >= Self.names.count - 1, "offset \(offset)")
                }
            }
        }
    }

    @Test("Behind a damaged frame of the log everything is saved that does not lie in it")
    func damagedLog() throws {
        try withTemporaryDirectory { directory in
            let original = ClosedStore(directory: directory.appendingPathComponent("original"))
            let engine = try original.open()
            for name in Self.names { try engine.add(.password(name, secret: "secret of \(name)")) }
            let store = ClosedStore(directory: directory.appendingPathComponent("copy"))
            for page in stride(from: 0, to: 200, by: 23) {
                try? FileManager.default.removeItem(at: store.directory)
                try FileManager.default.copyItem(at: original.directory, to: store.directory)
                var log = try Data(contentsOf: store.log)
                log[32 + page * (24 + 4096) + 24 + 100] ^= 0xff
                try log.write(to: store.log)
                #expect(throws: KeychainError.self) { try store.open() }
                try repair(store)
                #expect(try found(store).count >= Self.names.count - 10)
            }
            withExtendedLifetime(engine) {}
        }
    }

    @Test("An index of the log that is older than the log, as after a power cut, hides nothing from a repair")
    func staleIndex() throws {
        try withTemporaryDirectory { directory in
            let original = ClosedStore(directory: directory.appendingPathComponent("original"))
            let engine = try original.open()
            for name in Self.names.prefix(10) { try engine.add(.password(name, secret: "secret of \(name)")) }
            let stale = try Data(contentsOf: original.logIndex)
            for name in Self.names.dropFirst(10) { try engine.add(.password(name, secret: "secret of \(name)")) }
            let store = ClosedStore(directory: directory.appendingPathComponent("copy"))
            try FileManager.default.copyItem(at: original.directory, to: store.directory)
            try stale.write(to: store.logIndex)
            #expect(try repair(store).savedCount == Self.names.count)
            #expect(try found(store) == Self.names)
            withExtendedLifetime(engine) {}
        }
    }

    @Test("Items that do not open stay in the old store, which is kept beside the new one")
    func unreadable() throws {
        try withStore { store in
            try store.edit("UPDATE item SET secret = zeroblob(60) WHERE id IN (3, 7)")
            let before = try Data(contentsOf: store.database)
            let report = try repair(store)
            #expect(report.savedCount == Self.names.count - 2 && report.unreadableCount == 2)
            let old = URL(fileURLWithPath: report.oldStorePath)
            #expect(old.lastPathComponent.hasPrefix("store.damaged-"))
            #expect(try Data(contentsOf: old.appendingPathComponent("keychain.db")) == before)
            #expect(try found(store).count == Self.names.count - 2)
            // Twice on one day: each has a name of its own.
            #expect(try repair(store).oldStorePath != report.oldStorePath)
            let rights = try FileManager.default.attributesOfItem(atPath: store.storeDirectory.path)[.posixPermissions]
            #expect(rights as? Int == 0o700)
        }
    }

    @Test("A locked store is repaired with its passcode, and stays behind it")
    func locked() throws {
        try withKeychain { keychain in
            let store = ClosedStore(directory: keychain.directory)
            for protection in Protection.withoutPasscode {
                try keychain.engine.add(.password(protection.rawValue, protection: protection))
            }
            try keychain.setPasscode("1234")
            try keychain.engine.add(.password("akpu", protection: .whenPasscodeSetThisDeviceOnly))
            keychain.restart()
            let copy = ClosedStore(directory: keychain.directory.appendingPathComponent("copy"))
            try copy.take(from: store)
            let wrong = #expect(throws: KeychainError.self) { try repair(copy, passcode: "4321") }
            #expect(wrong?.code == .authenticationFailed)
            #expect(try repair(copy, passcode: "1234").savedCount == Protection.allCases.count)
            let engine = try copy.open()
            defer { engine.withdrawKeys() }
            _ = try engine.handle(.unlock(.of("1234")), from: .owner)
            #expect(try engine.find(.password(limit: .all)).count == Protection.allCases.count)
            _ = try engine.handle(.lock(.now), from: .owner)
            let refused = #expect(throws: KeychainError.self) { try engine.find(.password(limit: .all)) }
            #expect(refused?.code == .interactionNotAllowed)
            // Nor does the repair leave the damaged store unlocked, out of every lock's reach.
            let names = try FileManager.default.contentsOfDirectory(atPath: copy.directory.path)
            var configuration = EngineConfiguration.test(in: copy.directory)
            configuration.storeDirectory = copy.directory.appendingPathComponent(
                try #require(names.first { $0.hasPrefix("store.damaged-") }))
            let damaged = try Engine(configuration)
            let left = #expect(throws: KeychainError.self) { try damaged.find(.password(limit: .all)) }
            #expect(left?.code == .interactionNotAllowed)
        }
    }

    @Test("A store that was unlocked is so after its repair, and the damaged one is not")
    func unlocked() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            do {
                let engine = try store.open()
                try engine.add(.password("a"))
                try engine.setPasscode("1234")
            }
            #expect(try repair(store).savedCount == 1)
            let engine = try store.open()
            defer { engine.withdrawKeys() }
            #expect(try engine.secret(of: "a") == "secret")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            var configuration = EngineConfiguration.test(in: directory)
            configuration.storeDirectory = directory.appendingPathComponent(
                try #require(names.first { $0.hasPrefix("store.damaged-") }))
            let left = #expect(throws: KeychainError.self) { try Engine(configuration).secret(of: "a") }
            #expect(left?.code == .interactionNotAllowed)
        }
    }

    @Test("A store that another process has open is not touched")
    func inUse() throws {
        try withStore { store in
            let agent = try AgentProcess("serve", store.directory.path)
            #expect(try agent.ask("get item-1") == "secret of item-1")
            let error = #expect(throws: KeychainError.self) { try repair(store) }
            #expect(error?.code == .notAvailable && error?.message.contains("another program") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory.path).count == 2)
            try agent.end()
            #expect(try repair(store).savedCount == Self.names.count)
        }
    }

    @Test("A store that a newer version made, another program's database and files of two stores are left alone")
    func notOurs() throws {
        try withStore { store in
            try store.edit("PRAGMA user_version = 3")
            try expectUntouched(store, mentioning: OwnProgram.isTooOld)
        }
        try withStore { store in
            for file in [store.database] { try FileManager.default.removeItem(at: file) }
            try store.edit("CREATE TABLE notes (text TEXT)")
            try expectUntouched(store, mentioning: "nothing can be saved")
        }
        try withStore { store in
            try withStore { other in
                try FileManager.default.removeItem(at: store.database)
                try FileManager.default.copyItem(at: other.database, to: store.database)
            }
            try expectUntouched(store, mentioning: "nothing can be saved")
        }
    }

    @Test("A directory that holds other files too, the device key perhaps, keeps its place")
    func otherFiles() throws {
        for name in ["device-key", "notes.txt"] {
            try withStore { store in
                try Data("x".utf8).write(to: store.storeDirectory.appendingPathComponent(name))
                try expectUntouched(store, mentioning: name)
            }
        }
    }

    private func expectUntouched(_ store: ClosedStore, mentioning words: String) throws {
        let before = try store.contents.filter { !$0.key.hasSuffix("-shm") && !$0.key.hasSuffix(".lock") }
        let error = #expect(throws: KeychainError.self) { try repair(store) }
        #expect(error?.code == .notAvailable && error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(try store.contents.filter { !$0.key.hasSuffix("-shm") && !$0.key.hasSuffix(".lock") } == before)
    }

    @Test("While a repair goes on nobody can open the store, and what waits for its lock waits for the new one")
    func exclusive() throws {
        try withStore { store in
            var outcome = ""
            _ = try StoreRepair(.test(in: store.directory)).run(
                passcode: { SecretBytes.of("") },
                progress: { done, total in
                    guard done == total else { return }
                    do {
                        let agent = try AgentProcess("add", store.directory.path, "meanwhile", "1")
                        outcome = "\(try agent.finish().status)"
                    } catch {
                        Issue.record(error)
                    }
                })
            #expect(outcome == "2")
            let agent = try AgentProcess("add", store.directory.path, "after", "1")
            #expect(try agent.finish().status == 0)
            #expect(try store.open().secret(of: "after-0") == "secret of after-0")
            #expect(try found(store) == Self.names)
        }
    }

    @Test("A lock that comes during a repair holds for the repaired store too", arguments: [true, false])
    func lockDuringRepair(isEarly: Bool) throws {
        try withStore { store in
            try store.open().setPasscode("1234")
            var hasLocked = false
            func lock() throws {
                hasLocked = true
                try UnopenedStore.lock(.test(in: store.directory), .now)
            }
            let report = Result {
                try StoreRepair(.test(in: store.directory)).run(
                    passcode: { SecretBytes.of("1234") },
                    progress: { done, total in
                        guard !hasLocked, isEarly || done == total else { return }
                        do { try lock() } catch { Issue.record(error) }
                    })
            }
            #expect(hasLocked)
            #expect(try report.get().unreadableCount == 0)
            let engine = try store.open()
            defer { engine.withdrawKeys() }
            #expect(try engine.lockStatus().state == .locked)
            let error = #expect(throws: KeychainError.self) { try engine.add(.password("new")) }
            #expect(error?.code == .interactionNotAllowed)
            _ = try engine.handle(.unlock(.of("1234")), from: .owner)
            #expect(try found(store) == Self.names)
        }
    }

    @Test("A row with a number that no generation of keys has costs itself alone")
    func damagedGeneration() throws {
        try withStore { store in
            try store.edit("UPDATE item SET generation = 9 WHERE id = 4")
            let report = try repair(store)
            #expect(report.savedCount == Self.names.count - 1 && report.unreadableCount == 1)
        }
    }

    @Test("Without keybag or device key nothing is done, and nothing is left behind")
    func withoutKeys() throws {
        for name in ["store/keybag", "device/device-key"] {
            try withStore { store in
                try FileManager.default.removeItem(at: store.directory.appendingPathComponent(name))
                let before = try store.contents
                let error = #expect(throws: KeychainError.self) { try repair(store) }
                #expect(error?.code == .notAvailable)
                // The file that processes lock may be new.
                #expect(
                    try store.contents.filter { !$0.key.hasSuffix("store.lock") }.keys.sorted()
                        == before.keys.filter { !$0.hasSuffix("store.lock") }.sorted())
            }
        }
    }
}

extension ClosedStore {
    /// Copies the files of another store.
    fileprivate func take(from other: ClosedStore) throws {
        try makePrivateDirectory(directory)
        for name in ["store", "device"] {
            try FileManager.default.copyItem(
                at: other.directory.appendingPathComponent(name), to: directory.appendingPathComponent(name))
        }
    }
}

extension Engine {
    fileprivate func addOneOfEachClass(largeSecret: Data) throws {
        for protection in Protection.withoutPasscode {
            try add(.password(protection.rawValue, protection: protection))
            var server = AddRequest(.internetPassword)
            server.attributes = [
                .account: .text(protection.rawValue), .server: .text("example.org"), .port: .number(443),
            ]
            server.accessControl = AccessControl(protection)
            try add(server)
            for itemClass in [ItemClass.certificate, .key] {
                var request = AddRequest(itemClass)
                request.attributes =
                    itemClass == .key
                    ? [.applicationLabel: .data(Data(protection.rawValue.utf8))]
                    : [.serialNumber: .data(Data(protection.rawValue.utf8)), .issuer: .data(Data("CA".utf8))]
                request.accessControl = AccessControl(protection)
                request.secret = .of("bytes")
                try add(request)
            }
        }
        var large = AddRequest.password("large", secret: nil)
        large.secret = SecretBytes(copying: largeSecret)
        try add(large)
        try add(.password("without a secret", secret: nil))
        try add(.password("empty", secret: ""))
    }

    /// Every item with everything it has.
    fileprivate func everything() throws -> [String] {
        var all: [String] = []
        for itemClass in ItemClass.stored {
            var query = ItemQuery(itemClass)
            query.limit = .all
            for item in try find(query) {
                let attributes = item.attributes.entries.map { "\($0.attribute.name)=\($0.value)" }.sorted()
                let secret = item.secret?.copyData().base64EncodedString() ?? "none"
                all.append(
                    "\(item.identifier) \(item.created) \(item.modified) \(item.accessControl) \(item.accessGroup) "
                        + "\(attributes) \(secret.count) \(secret.suffix(64))")
            }
        }
        return all.sorted()
    }
}
