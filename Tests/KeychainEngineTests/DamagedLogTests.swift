import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Damage in SQLite's log, which SQLite by itself takes for the end of what was written.
@Suite struct DamagedLogTests {
    private static let share = Effort.stride(7)

    /// The files of a store as a killed process leaves them, with a log of several transactions.
    private func withKilledStore<R>(pageSize: Int = 512, _ body: (LooseFiles) throws -> R) throws -> R {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory.appendingPathComponent("original"))
            _ = try store.open()
            try store.setPageSize(pageSize)
            let files = try withExtendedLifetime(try store.open()) { engine in
                for name in LooseFiles.names { try engine.add(.password(name, secret: "secret of \(name)")) }
                return try LooseFiles(store)
            }
            return try body(files)
        }
    }

    @Test("A flipped byte of the log is refused, wherever it is, and drops no write in silence")
    func everyByte() throws {
        try withKilledStore { files in
            #expect(files.log.count > 8_000)
            let offsets = Array(stride(from: 0, to: files.log.count, by: Self.share))
            let tally = try files.flipEach(offsets)
            #expect(tally.silentLosses == [])
            #expect(tally.refused == offsets.count)
            print("flipped bytes of the log: \(offsets.count) of \(files.log.count) offsets, \(tally)")
        }
    }

    @Test("Without its index, damage is noticed in all transactions but the last, which a power cut may have torn")
    func withoutIndex() throws {
        try withKilledStore { files in
            var files = files
            files.index = nil
            let lastTransaction = files.log.count - files.bytesOfLastTransaction
            let offsets = Array(stride(from: 0, to: lastTransaction, by: Self.share))
            let before = try files.flipEach(offsets)
            #expect(before.silentLosses == [] && before.refused == offsets.count)
            // The last item alone, and never a half of it.
            let within = try files.flipEach(stride(from: lastTransaction, to: files.log.count, by: Self.share))
            #expect(within.silentLosses.allSatisfy { $0 == [LooseFiles.names.last!] })
            print(
                "flipped bytes of a log without its index, every \(Self.share): before the last transaction "
                    + "\(before); in it \(within)")
        }
    }

    @Test("A log that ends early, as after a power cut, opens with every transaction that is whole")
    func tornTail() throws {
        try withKilledStore { files in
            var files = files
            files.index = nil
            let whole = files.log
            var counts: [Int] = []
            for length in stride(from: whole.count, through: 0, by: -149) {
                files.log = whole.prefix(length)
                let found = try files.open()
                #expect(found == Array(LooseFiles.names.prefix(found.count)))
                counts.append(found.count)
            }
            #expect(counts == counts.sorted(by: >) && counts.first == 4 && counts.last == 0)
        }
    }

    @Test("A log that lost its end, while its index says that it was written, is refused")
    func truncated() throws {
        try withKilledStore { files in
            var files = files
            files.log = files.log.dropLast(files.bytesOfLastTransaction / 2)
            let error = #expect(throws: KeychainError.self) { try files.open() }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains("doctor --repair") == true)
        }
    }

    @Test("A log whose beginning is lost, header and first frame together, is refused", arguments: [512, 2048])
    func lostBeginning(count: Int) throws {
        try withKilledStore { files in
            var files = files
            files.log.replaceSubrange(0..<count, with: Data(count: count))
            for index in [files.index, nil] {
                files.index = index
                let error = #expect(throws: KeychainError.self) { try files.open() }
                #expect(error?.code == .notAvailable)
            }
        }
    }

    @Test("A log that was cut between two transactions is refused, since its index says that there was more")
    func cutBetweenTransactions() throws {
        try withKilledStore { files in
            var files = files
            files.log = files.log.dropLast(files.bytesOfLastTransaction)
            let error = #expect(throws: KeychainError.self) { try files.open() }
            #expect(error?.code == .notAvailable)
            files.log = files.log.prefix(32)
            #expect(throws: KeychainError.self) { try files.open() }
        }
    }

    @Test("A log without its database is refused, where a new database would get what is in it")
    func withoutDatabase() throws {
        try withKilledStore { files in
            try withTemporaryDirectory { directory in
                let store = ClosedStore(directory: directory)
                try files.putDown(store)
                for file in [store.database, store.keybag] { try FileManager.default.removeItem(at: file) }
                let error = #expect(throws: KeychainError.self) { try store.open() }
                #expect(error?.message.contains("missing") == true)
                #expect(try Data(contentsOf: store.log) == files.log)
            }
        }
    }

    @Test("What a roll-back left behind in the log is no damage")
    func rolledBack() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory.appendingPathComponent("original"))
            let files = try withExtendedLifetime(try store.open()) { engine in
                try engine.add(.password("a", secret: "secret of a"))
                // With a cache this small SQLite writes into the log before the transaction ends.
                try store.writeAndRollBack(megabytes: 2)
                try engine.add(.password("b", secret: "secret of b"))
                return try LooseFiles(store)
            }
            var withoutIndex = files
            withoutIndex.index = nil
            #expect(files.log.count > 1 << 20)
            #expect(try files.open() == ["a", "b"])
            #expect(try withoutIndex.open() == ["a", "b"])
        }
    }

    @Test("A log that was begun anew over an older one, and torn at that, opens")
    func tornRestart() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory.appendingPathComponent("original"))
            var files = try withExtendedLifetime(try store.open()) { engine in
                for name in LooseFiles.names { try engine.add(.password(name, secret: "secret of \(name)")) }
                // All of it is in the database now; the frames stay in the file.
                try store.checkpointWithoutTruncating()
                return try LooseFiles(store)
            }
            files.index = nil
            // The header of the next log did not come to the disk whole.
            for offset in 12..<32 { files.log[offset] ^= 0x5a }
            #expect(try files.open() == LooseFiles.names)
        }
    }

    @Test("An empty database beside its log is refused, and the log is kept")
    func emptyDatabase() throws {
        try withKilledStore { files in
            var files = files
            files.database = Data()
            let error = #expect(throws: KeychainError.self) { try files.open() }
            #expect(error?.code == .notAvailable)
        }
    }

    @Test("Nobody looks at the log of a store that is in use: it may be written at this moment")
    func inUse() throws {
        try withTemporaryDirectory { directory in
            let agent = try AgentProcess("serve", directory.path)
            #expect(try agent.ask("add first") == "0")
            let store = ClosedStore(directory: directory)
            // Where a look would see damage: in a frame that SQLite will not read again, since all pages are newer.
            #expect(try agent.ask("add second") == "0")
            var bytes = try Data(contentsOf: store.log)
            bytes[36] ^= 0xff
            try FileHandle(forUpdating: store.log).write(contentsOf: bytes.prefix(64))
            #expect(try store.open().secret(of: "second") == "secret of second")
            try agent.end()
        }
    }
}

/// The files of a store, in memory, to be put down somewhere.
private struct LooseFiles {
    static let names = ["a", "b", "c", "d"]

    var database: Data
    var log: Data
    var index: Data?
    private let keybag: Data
    private let deviceKey: Data

    init(_ store: ClosedStore) throws {
        database = try Data(contentsOf: store.database)
        log = try Data(contentsOf: store.log)
        index = try Data(contentsOf: store.logIndex)
        keybag = try Data(contentsOf: store.keybag)
        deviceKey = try Data(contentsOf: store.deviceKey)
    }

    /// The frames after the last but one that ends a transaction.
    var bytesOfLastTransaction: Int {
        let frameSize = 24 + Int(log[10]) << 8 + Int(log[11])
        let count = (log.count - 32) / frameSize
        let ends = (0..<count).filter { frame in log[(32 + frame * frameSize + 4)...].prefix(4).contains { $0 != 0 } }
        return (count - 1 - ends[ends.count - 2]) * frameSize
    }

    func putDown(_ store: ClosedStore) throws {
        try makePrivateDirectory(store.storeDirectory)
        try makePrivateDirectory(store.deviceKey.deletingLastPathComponent())
        try database.write(to: store.database)
        try log.write(to: store.log)
        try index?.write(to: store.logIndex)
        try keybag.write(to: store.keybag)
        try deviceKey.write(to: store.deviceKey)
        for file in [store.keybag, store.deviceKey] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
    }

    /// Opens a copy: the accounts that are found, each with its secret. What is refused stays as it was.
    func open() throws -> [String] {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            try putDown(store)
            let before = try store.contents
            do {
                return try Self.found(store)
            } catch {
                #expect(try store.contents == before)
                throw error
            }
        }
    }

    static func found(_ store: ClosedStore) throws(KeychainError) -> [String] {
        let engine = try store.open()
        var found: [String] = []
        for name in names {
            do throws(KeychainError) {
                if try engine.secret(of: name) == "secret of \(name)" { found.append(name) }
            } catch  where error.code == .itemNotFound {}
        }
        return found
    }

    /// Opens the store once for every offset, with the byte there flipped.
    func flipEach(_ offsets: some Sequence<Int>) throws -> Tally {
        try withTemporaryDirectory { directory in
            var tally = Tally()
            let store = ClosedStore(directory: directory)
            try putDown(store)
            for offset in offsets {
                try Self.flip(offset, store.log)
                do throws(KeychainError) {
                    let found = try Self.found(store)
                    found == Self.names
                        ? tally.harmless += 1 : tally.silentLosses.append(Self.names.filter { !found.contains($0) })
                    // Opening it moved things.
                    try? FileManager.default.removeItem(at: store.storeDirectory)
                } catch {
                    #expect(error.code == .notAvailable)
                    tally.refused += 1
                }
                if FileManager.default.fileExists(atPath: store.log.path) {
                    try Self.flip(offset, store.log)
                } else {
                    try putDown(store)
                }
            }
            #expect(try Data(contentsOf: store.log) == log)
            return tally
        }
    }

    private static func flip(_ offset: Int, _ url: URL) throws {
        let file = try FileHandle(forUpdating: url)
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte ^ 0xff])
        try file.close()
    }
}

private struct Tally: CustomStringConvertible {
    var harmless = 0
    var refused = 0
    /// The names that were missing, for each.
    var silentLosses: [[String]] = []

    var description: String { "\(refused) refused, \(harmless) harmless, \(silentLosses.count) silent losses" }
}
