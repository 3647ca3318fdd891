import DataProtection
import DataProtectionCore
import Foundation
import Glibc
import KeychainClient
import KeychainFileModel
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// Power cuts at each call of everything that is done with a file that is open, and what they have found.
///
/// Sequences of ``replay`` come from `FileModelTests` and `Scripts/torture files`.
@Suite struct PowerCutTests {
    private func withRun(_ body: (inout FileModelRun) throws -> Void) throws {
        try withProtectedFiles { _, directory, keychain throws in
            try keychain.setPasscode("1234")
            var run = FileModelRun(keychain, passcode: "1234", in: directory)
            try body(&run)
        }
    }

    private func replay(_ operations: [FileOperation], chunkBits: UInt8) throws {
        try withRun { run throws in try run.perform(operations, chunkBits: chunkBits) }
    }

    private static let pasts: [[FileOperation]] = [
        // Written whole: the first change says so in the header.
        [.replace(count: 50_000, .always, seed: 1)],
        // On the disk.
        [.replace(count: 50_000, .always, seed: 1), .write(0, at: 9000, count: 100, seed: 2), .sync(0)],
        // Twice on the disk, with more behind it: the older header has pages that are used again.
        [
            .replace(count: 50_000, .always, seed: 1), .write(0, at: 9000, count: 100, seed: 2), .sync(0),
            .write(0, at: 100, count: 20_000, seed: 3), .sync(0), .write(0, at: 0, count: 30_000, seed: 4),
            .truncate(0, to: 300_000), .write(0, at: 290_000, count: 9000, seed: 5),
        ],
    ]
    private static let works: [FileOperation] = [
        .write(0, at: 20_000, count: 3000, seed: 6), .append(0, count: 9000, seed: 6), .truncate(0, to: 600_000),
        .truncate(0, to: 5000), .punch(0, 3000..<49_000), .sync(0), .setProtection(0, .complete), .close(0),
        .replace(count: 9000, .complete, seed: 7),
    ]

    @Test("A power cut at any call, twice, leaves what some write has left, and whatever was acknowledged")
    func everyCall() throws {
        var seeds = SeededGenerator()
        try withRun { run throws in
            for past in Self.pasts {
                for work in Self.works {
                    for call in 0..<9 {
                        let sequence =
                            past + [
                                .powerCut(work, call: call, seed: seeds.next()),
                                // In the midst of what is written first afterwards.
                                .powerCut(
                                    .write(0, at: 100, count: 12_000, seed: 8), call: call % 5, seed: seeds.next()),
                                .write(1, at: 0, count: 5000, seed: 9), .sync(1),
                                .powerCut(.truncate(1, to: 100), call: 8, seed: seeds.next()),
                            ]
                        do {
                            try run.perform(sequence, chunkBits: 12)
                        } catch {
                            Issue.record("\(error)\nseed \(seeds.seed)\n\(sequence)")
                            return
                        }
                    }
                }
            }
        }
    }

    /// What a program leaves that dies before the disk has a header of it.
    private static let deaths: [(past: [FileOperation], work: FileOperation)] = [
        ([], .setProtection(0, .complete)),
        ([.truncate(0, to: 9000)], .sync(0)),
        ([.replace(count: 50_000, .always, seed: 4)], .write(0, at: 0, count: 1000, seed: 5)),
    ]

    @Test("After a program that died in the midst of it, another one goes on, and the power fails")
    func deathAndCut() throws {
        var seeds = SeededGenerator()
        try withRun { run throws in
            for (past, work) in Self.deaths {
                for call in 0..<7 {
                    for _ in 0..<12 {
                        let sequence: [FileOperation] =
                            [
                                .replace(count: 50_000, .always, seed: 1),
                                .write(0, at: 0, count: 30_000, seed: 2), .sync(0),
                                .write(0, at: 0, count: 30_000, seed: 3), .sync(0),
                                .write(0, at: 0, count: 30_000, seed: 4), .sync(0),
                            ] + past + [
                                .kill(work, call: call),
                                .write(0, at: 0, count: 30_000, seed: 6),
                                .powerCut(.write(0, at: 20_000, count: 9000, seed: 7), call: 9, seed: seeds.next()),
                            ]
                        do {
                            try run.perform(sequence, chunkBits: 12)
                        } catch {
                            Issue.record("\(error)\nseed \(seeds.seed)\n\(sequence)")
                            return
                        }
                    }
                }
            }
        }
    }

    @Test("What was found after a power cut, and is refused by a full disk, is made durable by the next write")
    func foundOnFullDisk() throws {
        for seed in 0..<Effort.seeds(10, full: 50) {
            try replay(
                [
                    .write(1, at: 4096, count: 1, seed: 1),
                    .powerCut(.write(0, at: 606_207, count: 1, seed: 2), call: 1, seed: 6_984_628_091_489_050_696),
                    .full(.write(1, at: 622_591, count: 1, seed: 3), call: 0),
                    .append(0, count: 16384, seed: 4),
                    .powerCut(.write(0, at: 0, count: 1, seed: 5), call: 1, seed: seed),
                ], chunkBits: 14)
        }
    }

    @Test("A name may go back to the file that had it, if whoever replaced that died before the end")
    func nameOfReplaced() throws {
        for seed in 0..<Effort.seeds(6, full: 20) {
            try replay(
                [
                    .kill(.replace(count: 3360, .always, seed: 1), call: 4),
                    .powerCut(.setProtection(1, .always), call: 1, seed: seed),
                ], chunkBits: 12)
        }
    }

    @Test("A class is changed of a file that has just given space back")
    func classAfterRelease() throws {
        try replay(
            [
                .write(1, at: 720896, count: 1, seed: 365),
                .truncate(1, to: 0),
                .setProtection(1, .completeUntilFirstUserAuthentication),
            ], chunkBits: 14)
    }

    @Test("What the state to go back to needs of the file is not cut off, though the present one needs less")
    func sizeOfBase() throws {
        for seed in 0..<Effort.seeds(6, full: 20) {
            try replay(
                [
                    .write(0, at: 12288, count: 1, seed: 1),
                    .write(0, at: 1_064_960, count: 1_048_575, seed: 2),
                    .truncate(1, to: 1),
                    .append(1, count: 1, seed: 3),
                    .sync(0),
                    .write(1, at: 16384, count: 1, seed: 4),
                    .truncate(0, to: 28673),
                    .write(0, at: 623_038, count: 1, seed: 5),
                    .powerCut(.read(2, at: 0, count: 2), call: 1, seed: seed),
                ], chunkBits: 14)
        }
    }

    @Test("What was found after a power cut is made durable before it is written over")
    func twoCuts() throws {
        for seed in 0..<Effort.seeds(15, full: 100) {
            try replay(
                [
                    .replace(count: 50_000, .always, seed: 1),
                    .write(0, at: 0, count: 30_000, seed: 2), .sync(0),
                    .write(0, at: 0, count: 30_000, seed: 3), .sync(0),
                    .powerCut(.write(0, at: 0, count: 30_000, seed: 4), call: 8, seed: seed),
                    .powerCut(.write(0, at: 0, count: 30_000, seed: 5), call: 8, seed: seed + 1000),
                ], chunkBits: 12)
        }
    }

    @Test(
        "What did not count after a power cut for want of the file's end does not count when the file has grown again")
    func discardedAndGrown() throws {
        try replay(
            [
                .truncate(1, to: 36361),
                .punch(1, 34878..<68_719_493_121),
                .powerCut(.sync(2), call: 2, seed: 15_029_971_331_663_587_657),
                .powerCut(.write(1, at: 45056, count: 1, seed: 765), call: 3, seed: 9_433_338_830_498_817_244),
            ], chunkBits: 14)
        try replay(
            [
                .truncate(0, to: 0),
                .powerCut(.sync(1), call: 2, seed: 11_260_859_855_123_311_738),
                .truncate(0, to: 0),
                .powerCut(.truncate(0, to: 8192), call: 5, seed: 13_094_347_511_625_909_810),
                .append(1, count: 1, seed: 120),
                .powerCut(.read(1, at: 16023, count: 184), call: 6, seed: 8_775_674_220_388_515_622),
            ], chunkBits: 12)
    }

    @Test("Nor if the program that lets it grow is killed before its header is there")
    func discardedAndKilled() throws {
        for seed in 0..<Effort.seeds(15, full: 100) {
            for call in 0..<5 {
                try replay(
                    [
                        .truncate(0, to: 36361),
                        .powerCut(.read(0, at: 0, count: 1), call: 0, seed: seed),
                        .kill(.write(1, at: 45056, count: 1, seed: 1), call: call),
                    ], chunkBits: 14)
            }
        }
    }

    @Test("A handle for reading does not say that the disk has what was not made durable")
    func readingSync() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let writer = try files.open(url, for: .writing, options: .create)
            let reader = try files.open(url)
            try reader.sync()
            try writer.append(Data("x".utf8))
            let refusal = #expect(throws: DataProtectionError.self) { try reader.sync() }
            #expect(refusal?.errno == EBADF)
            try writer.sync()
            try reader.sync()
        }
    }

    @Test("What is synced first is on the disk: a new file, and one that was written without waiting")
    func firstSync() throws {
        try withProtectedFiles { _, directory, keychain throws in
            let connection = Connection(engine: keychain.handler, caller: Caller(groups: ["G"]))
            let attic = directory.appendingPathComponent("attic")
            try FileManager.default.createDirectory(at: attic, withIntermediateDirectories: true)
            for seed in 0..<Effort.seeds(15, full: 60) {
                let disk = ForgetfulDisk(attic: attic)
                let session = disk.start()
                let files = ProtectedFiles(connection: connection, files: session)
                let new = directory.appendingPathComponent("new \(seed)")
                let unsynced = directory.appendingPathComponent("unsynced \(seed)")
                let made = directory.appendingPathComponent("made \(seed)")
                let handle = try files.open(new, for: .writing, options: .create)
                try handle.sync()
                try files.write(content(9000), to: unsynced, options: .withoutWaitingForDisk)
                try files.open(unsynced, for: .writing).sync()
                // A file's name is its directory's matter.
                let names = open(directory.path, O_RDONLY | O_DIRECTORY)
                #expect(session.sync(names) == 0)
                close(names)
                let never = try files.open(made, for: .writing, options: .create)
                try never.append(content(5000))
                disk.powerCut(seed: seed)
                let later = ProtectedFiles(connection: connection, files: disk.start(), bootID: UUID())
                #expect(try later.read(from: new).isEmpty)
                #expect(try later.read(from: unsynced) == content(9000))
                // Its name may be there or not; if it is, it is a file that opens.
                if FileManager.default.fileExists(atPath: made.path) {
                    let found = try later.read(from: made)
                    #expect(found.isEmpty || found == content(5000))
                }
            }
        }
    }

    @Test("After its first sync a new file has its name on the disk")
    func nameOfNew() throws {
        try withProtectedFiles { _, directory, keychain throws in
            let connection = Connection(engine: keychain.handler, caller: Caller(groups: ["G"]))
            let attic = directory.appendingPathComponent("attic")
            try FileManager.default.createDirectory(at: attic, withIntermediateDirectories: true)
            for seed in 0..<20 as Range<UInt64> {
                let disk = ForgetfulDisk(attic: attic)
                let files = ProtectedFiles(connection: connection, files: disk.start())
                let url = directory.appendingPathComponent("new \(seed)")
                let handle = try files.open(url, for: .writing, options: .create)
                try handle.write(content(9000), at: 0)
                try handle.sync()
                disk.powerCut(seed: seed)
                let later = ProtectedFiles(connection: connection, files: disk.start(), bootID: UUID())
                #expect(try later.read(from: url) == content(9000))
            }
        }
    }

    @Test("The disk forgets what was not forced to it, and keeps what was")
    func control() throws {
        try withProtectedFiles { _, directory throws in
            let disk = ForgetfulDisk(attic: directory)
            let session = disk.start()
            let path = directory.appendingPathComponent("file").path
            let file = session.open(path, O_RDWR | O_CREAT, mode: 0o600)
            defer { close(file) }
            func write(_ byte: UInt8, at offset: Int) {
                let bytes = [UInt8](repeating: byte, count: 4096)
                #expect(bytes.withUnsafeBytes { session.write($0, to: file, at: offset) } == 4096)
            }
            for page in 0..<64 { write(1, at: page * 4096) }
            #expect(session.sync(file) == 0)
            let parent = open(directory.path, O_RDONLY | O_DIRECTORY)
            defer { close(parent) }
            #expect(session.sync(parent) == 0)
            for page in 0..<64 { write(2, at: page * 4096) }
            #expect(session.truncate(file, to: 32 * 4096) == 0)
            disk.powerCut(seed: 5)
            let left = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect([32 * 4096, 64 * 4096].contains(left.count))
            #expect(left.contains(1) || left.contains(2))
            #expect(left.allSatisfy { (0...2).contains($0) })
            // Nothing comes from the time before any more.
            errno = 0
            #expect(session.truncate(file, to: 0) == -1 && errno == EIO)
        }
    }
}
