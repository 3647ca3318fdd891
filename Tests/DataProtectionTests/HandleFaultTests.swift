import DataProtection
import DataProtectionCore
import Foundation
import Glibc
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// Every call that changes the disk fails once, in every way, in everything that is done with a file that is open: its
/// content is the old one or the new one, whole, and work goes on.
@Suite struct HandleFaultTests {
    enum Work: CaseIterable {
        case write, writeMuch, append, lengthen, shorten, punch, sync, changeClass, close

        func perform(_ handle: ProtectedFileHandle) throws {
            switch self {
            case .write: try handle.write(content(100, seed: 9), at: 30_000)
            case .writeMuch: try handle.write(content(70_000, seed: 9), at: 1_040_000)
            case .append: try handle.append(content(20_000, seed: 9))
            case .lengthen: try handle.truncate(to: 3_000_000)
            case .shorten: try handle.truncate(to: 10_000)
            case .punch: try handle.punch(1000..<500_000)
            case .sync: try handle.sync()
            case .changeClass: try handle.setProtection(.complete)
            case .close: try handle.close()
            }
        }

        func apply(to content: inout Data) {
            switch self {
            case .write: content.replaceSubrange(30_000..<30_100, with: DataProtectionTests.content(100, seed: 9))
            case .writeMuch:
                content = content.prefix(1_040_000) + DataProtectionTests.content(70_000, seed: 9)
            case .append: content += DataProtectionTests.content(20_000, seed: 9)
            case .lengthen: content += Data(count: 3_000_000 - content.count)
            case .shorten: content = content.prefix(10_000)
            case .punch: content.replaceSubrange(1000..<500_000, with: Data(count: 499_000))
            case .sync, .changeClass, .close: break
            }
        }
    }

    /// How a file comes to be as it is before.
    enum Past: CaseIterable {
        /// Written whole: the first change says so in the header.
        case whole
        case synced
        /// With something that is not on the disk yet, and space to give back.
        case unsynced
    }

    private func prepare(
        _ past: Past, _ files: ProtectedFiles, _ url: URL
    ) throws -> (handle: ProtectedFileHandle, content: Data) {
        var expected = content(1_050_000, seed: 3)
        try files.write(expected, to: url)
        let handle = try files.open(url, for: .writing)
        if past == .whole { return (handle, expected) }
        try handle.write(Data(repeating: 1, count: 50), at: 5)
        expected.replaceSubrange(5..<55, with: Data(repeating: 1, count: 50))
        try handle.sync()
        if past == .synced { return (handle, expected) }
        try handle.write(Data(repeating: 2, count: 50), at: 700_000)
        expected.replaceSubrange(700_000..<700_050, with: Data(repeating: 2, count: 50))
        try handle.punch(100_000..<600_000)
        expected.replaceSubrange(100_000..<600_000, with: Data(count: 500_000))
        return (handle, expected)
    }

    /// What a handle gives.
    private func all(_ handle: ProtectedFileHandle) throws -> Data { try handle.read(at: 0, count: 4_000_000) }

    @Test(
        "After a full disk, a broken one and a kill at any step, a handle has the old content or the new, and works",
        arguments: Work.allCases, FaultyDisk.Fault.allCases)
    func everyStep(work: Work, fault: FaultyDisk.Fault) throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            for past in Past.allCases {
                var step = 0
                while true {
                    disk.fail(at: nil)
                    let (handle, before) = try prepare(past, files, url)
                    var after = before
                    work.apply(to: &after)
                    disk.fail(at: step, fault)
                    let outcome = Result { try work.perform(handle) }
                    let failed = disk.failed
                    disk.fail(at: nil)
                    guard let failed else { break }
                    let moment = "\(past) \(step) \(failed)"
                    if case .failure(let error) = outcome {
                        #expect((error as? DataProtectionError)?.code == .system, "\(moment): \(error)")
                    }
                    try compare(work, fault, handle, files, url, before, after, failed, outcome, moment)
                    step += 1
                }
            }
        }
    }

    private func compare(
        _ work: Work, _ fault: FaultyDisk.Fault, _ handle: ProtectedFileHandle, _ files: ProtectedFiles, _ url: URL,
        _ before: Data, _ after: Data, _ failed: String, _ outcome: Result<Void, any Error>, _ moment: String
    ) throws {
        let isDone = (try? outcome.get()) != nil
        let isAlive = fault != .killed && work != .close
        let survivor = isAlive ? handle : try files.open(url, for: .writing)
        if !isAlive { handle.closeWithoutWaiting() }
        let found = try all(survivor)
        #expect(found == after || found == before && !isDone, "\(moment)")
        #expect(try all(files.open(url)) == found, "\(moment)")
        // A hole that could not be made is no failure.
        if isAlive && failed == "sync" {
            #expect(!isDone, "\(moment)")
            for _ in 0..<2 {
                let refusal = #expect(throws: DataProtectionError.self, "\(moment)") { try survivor.sync() }
                #expect(refusal?.errno == EIO)
            }
        } else {
            try survivor.sync()
        }
        try survivor.write(Data("on".utf8), at: 40_000)
        var later = found
        if later.count < 40_002 { later += Data(count: 40_002 - later.count) }
        later.replaceSubrange(40_000..<40_002, with: Data("on".utf8))
        #expect(try all(survivor) == later, "\(moment)")
        survivor.closeWithoutWaiting()
        let next = try files.open(url, for: .writing)
        #expect(try all(next) == later, "\(moment)")
        try next.close()
    }

    @Test(
        "A file that could not be made is not there, and is made by the next attempt",
        arguments: FaultyDisk.Fault.allCases)
    func creation(fault: FaultyDisk.Fault) throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            for step in 0..<20 {
                let url = directory.appendingPathComponent("file \(step)")
                disk.fail(at: step, fault)
                let outcome = Result { () throws in
                    let handle = try files.open(url, for: .writing, options: .create)
                    try handle.append(Data("first".utf8))
                    try handle.close()
                }
                let failed = disk.failed
                disk.fail(at: nil)
                let handle = try files.open(url, for: .writing, options: .create)
                let found = try handle.read(at: 0, count: 10)
                #expect(found == Data("first".utf8) || found.isEmpty, "\(step)")
                if case .success = outcome { #expect(found == Data("first".utf8)) }
                try handle.write(Data("again".utf8), at: 0)
                try handle.close()
                #expect(try files.read(from: url) == Data("again".utf8))
                try files.removeLeftovers(in: directory)
                if failed == nil { return }
            }
            Issue.record("there were more calls than were tried")
        }
    }

    @Test("A full disk gets what the former state takes, once that is not needed any more")
    func retry() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let (handle, before) = try prepare(.unsynced, files, directory.appendingPathComponent("file"))
            disk.fail(at: 0, .full)
            try handle.write(Data("x".utf8), at: 0)
            #expect(disk.calls.prefix(3) == ["write", "sync", "write"])
            #expect(try handle.read(at: 0, count: 2_000_000) == Data("x".utf8) + before.dropFirst())
        }
    }

    @Test("On a full disk a file is changed within what it has, and what does not fit is refused")
    func withinWhatThereIs() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            var expected = content(2_000_000, seed: 3)
            try files.write(expected, to: url)
            let handle = try files.open(url, for: .writing)
            var generator = SeededGenerator()
            func overwrite(_ rounds: Int) throws {
                for round in 0..<rounds {
                    let new = content(4096, seed: UInt64(round))
                    let place = generator.below(expected.count - new.count)
                    try handle.write(new, at: UInt64(place))
                    expected.replaceSubrange(place..<(place + new.count), with: new)
                    if round % 3 == 0 { try handle.sync() }
                }
            }
            // What becomes free lies in pieces, none of them as large as a write with the nodes above it.
            for chunk in stride(from: 0, to: 60, by: 2) {
                try handle.write(Data([1]), at: UInt64(chunk) << 14)
                expected[chunk << 14] = 1
            }
            try handle.sync()
            let size = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            disk.limit(to: size)
            try overwrite(300)
            // The first write learns it, and no later one tries.
            #expect((1...2).contains(disk.refusals))
            #expect(try all(handle) == expected, "seed \(generator.seed)")
            let refusal = #expect(throws: DataProtectionError.self) {
                try handle.append(content(3_000_000, seed: 1))
            }
            #expect(refusal?.errno == ENOSPC)
            #expect(try all(handle) == expected, "seed \(generator.seed)")
            try overwrite(3)
            try handle.close()
            #expect(try files.read(from: url) == expected, "seed \(generator.seed)")
        }
    }

    @Test("What was found after a crash, and is refused by the disk, is not written over by the handle that knows")
    func lostAfterCrash() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { made, directory, keychain throws in
            let url = directory.appendingPathComponent("file")
            try made.write(content(50_000), to: url)
            let before = try made.open(url, for: .writing)
            try before.write(Data("new".utf8), at: 20_000)
            before.closeWithoutWaiting()

            let connection = Connection(engine: keychain.handler, caller: Caller(groups: ["G"]))
            let later = ProtectedFiles(connection: connection, files: disk, bootID: UUID())
            let handle = try later.open(url, for: .writing)
            disk.fail(at: nil)
            _ = try later.open(url, for: .writing).read(at: 0, count: 10)
            #expect(disk.calls.allSatisfy { $0 == "open" })
            var step = 0
            repeat {
                disk.fail(at: step, .broken)
                _ = Result { try handle.write(Data("more".utf8), at: 100) }
                step += 1
            } while disk.failed != "sync" && step < 20
            #expect(disk.failed == "sync")
            disk.fail(at: nil)
            for _ in 0..<2 {
                let refusal = #expect(throws: DataProtectionError.self) {
                    try handle.write(Data("more".utf8), at: 100)
                }
                #expect(refusal?.errno == EIO)
            }
            #expect(disk.calls.isEmpty)
            #expect(try handle.read(at: 20_000, count: 3) == Data("new".utf8))
            // Another one begins where this one failed.
            let next = try later.open(url, for: .writing)
            try next.write(Data("more".utf8), at: 100)
            try next.close()
            #expect(try later.read(from: url)[20_000..<20_003] == Data("new".utf8))
        }
    }

    @Test("The first sync of a handle waits for the disk, whatever the header says: the file may be a copy")
    func syncOfCopy() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(content(50_000), to: url)
            let handle = try files.open(url, for: .writing)
            for number in 0..<3 {
                try handle.write(Data([1]), at: UInt64(number) * 16384)
                try handle.sync()
            }
            try handle.close()
            let copy = directory.appendingPathComponent("copy")
            try FileManager.default.copyItem(at: url, to: copy)
            let other = try files.open(copy, for: .writing)
            disk.fail(at: nil)
            try other.sync()
            #expect(disk.calls == ["sync"])
            try other.sync()
            #expect(disk.calls == ["sync"])
        }
    }

    @Test("A write of up to 4 MiB is done as a whole or not at all, wherever it begins")
    func oneHeader() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let handle = try files.open(url, for: .writing, options: .create)
            try handle.truncate(to: 16 << 20)
            for (offset, count) in [(UInt64(4 << 20) - 10, 20), (100, 4 << 20), (UInt64(8 << 20) - 1, 4 << 20)] {
                var step = 0
                repeat {
                    let before = try handle.read(at: offset, count: count)
                    let new = content(count, seed: UInt64(step + 2))
                    disk.fail(at: step, .broken)
                    let outcome = Result { try handle.write(new, at: offset) }
                    step = disk.failed == nil ? 0 : step + 1
                    disk.fail(at: nil)
                    let found = try handle.read(at: offset, count: count)
                    #expect(found == ((try? outcome.get()) == nil ? before : new))
                } while step > 0
            }
        }
    }
}
