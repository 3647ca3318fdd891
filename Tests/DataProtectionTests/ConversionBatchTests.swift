import Foundation
import Glibc
import KeychainTestSupport
import Synchronization
import Testing

@testable import DataProtection
@testable import DataProtectionCore

/// Files that are encrypted or decrypted together.
@Suite struct ConversionBatchTests {
    private static let count = 5

    private func old(_ number: Int) -> Data { content(1000 * number, seed: UInt64(number + 1)) }

    /// Files in two directories.
    private func urls(in directory: URL) throws -> [URL] {
        let other = directory.appendingPathComponent("other")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        return (0..<Self.count).map { ($0 % 2 == 0 ? directory : other).appendingPathComponent("f\($0)") }
    }

    private func prepare(_ urls: [URL], _ files: ProtectedFiles, isProtecting: Bool) throws {
        for (number, url) in urls.enumerated() {
            if isProtecting { try old(number).write(to: url) } else { try files.write(old(number), to: url) }
        }
    }

    /// - Returns: what came of each file.
    private func convert(_ urls: [URL], _ files: ProtectedFiles, isProtecting: Bool) -> [DataProtectionError?] {
        let batch = ConversionBatch(files)
        var outcomes: [Int: DataProtectionError?] = [:]
        var waiting: [Int] = []
        for (number, url) in urls.enumerated() {
            do throws(DataProtectionError) {
                let isAdded =
                    isProtecting
                    ? try batch.protect(url, as: .complete, size: 1) { _ in }
                    : try batch.unprotect(url, size: 1) { _ in }
                if isAdded { waiting.append(number) } else { outcomes[number] = .some(nil) }
            } catch {
                outcomes[number] = error
            }
        }
        for (number, failure) in zip(waiting, batch.publish()) { outcomes[number] = .some(failure) }
        return urls.indices.map { outcomes[$0] ?? nil }
    }

    @Test("All of a batch are converted, and come back", arguments: [true, false])
    func roundTrip(isProtecting: Bool) throws {
        try withProtectedFiles { files, directory throws in
            let urls = try urls(in: directory)
            try prepare(urls, files, isProtecting: isProtecting)
            #expect(convert(urls, files, isProtecting: isProtecting).allSatisfy { $0 == nil })
            for (number, url) in urls.enumerated() {
                #expect(try files.isProtected(url) == isProtecting)
                let found = isProtecting ? try files.read(from: url) : try Data(contentsOf: url)
                #expect(found == old(number))
            }
            #expect(convert(urls, files, isProtecting: isProtecting).allSatisfy { $0 == nil })
            #expect(convert(urls, files, isProtecting: !isProtecting).allSatisfy { $0 == nil })
        }
    }

    @Test(
        "No file has its name before all are on the disk, and none is done before its name is",
        arguments: [true, false])
    func order(isProtecting: Bool) throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let urls = try urls(in: directory)
            try prepare(urls, files, isProtecting: isProtecting)
            disk.fail(at: nil)
            #expect(convert(urls, files, isProtecting: isProtecting).allSatisfy { $0 == nil })
            let calls = disk.calls
            let (first, last) = (
                try #require(calls.firstIndex(of: "rename")), try #require(calls.lastIndex(of: "rename"))
            )
            #expect(calls[first...last] == ArraySlice(repeatElement("rename", count: Self.count)))
            let before = calls[..<first].drop { $0 != "sync" && $0 != "sync all" }
            #expect(before == ["sync all"] || before.count == Self.count && Set(before) == ["sync"])
            #expect(
                calls[(last + 1)...] == ["sync all"] || calls[(last + 1)...] == ["sync directory", "sync directory"])
        }
    }

    @Test(
        "After a full disk, a broken one and a kill at any step, each file is the old one or the new one, whole",
        arguments: [true, false], FaultyDisk.Fault.allCases)
    func everyStep(isProtecting: Bool, fault: FaultyDisk.Fault) throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let urls = try urls(in: directory)
            disk.fail(at: nil)
            try prepare(urls, files, isProtecting: isProtecting)
            disk.fail(at: nil)
            _ = convert(urls, files, isProtecting: isProtecting)
            let stepCount = disk.calls.count
            for step in 0..<stepCount {
                disk.fail(at: nil)
                for url in urls { try FileManager.default.removeItem(at: url) }
                try prepare(urls, files, isProtecting: isProtecting)
                disk.fail(at: step, fault)
                let outcomes = convert(urls, files, isProtecting: isProtecting)
                disk.fail(at: nil)
                for (number, url) in urls.enumerated() {
                    let isProtected = try files.isProtected(url)
                    let found = isProtected ? try files.read(from: url) : try Data(contentsOf: url)
                    #expect(found == old(number), "file \(number), step \(step)")
                    if outcomes[number] == nil { #expect(isProtected == isProtecting) }
                    #expect(outcomes[number].map { $0.code == .system && $0.path == url.path } ?? true)
                }
                for place in [directory, directory.appendingPathComponent("other")] {
                    try files.removeLeftovers(in: place)
                }
                // And it goes on from there.
                #expect(convert(urls, files, isProtecting: isProtecting).allSatisfy { $0 == nil })
                #expect(try urls.allSatisfy { try files.isProtected($0) == isProtecting })
            }
        }
    }

    @Test("What may be content in clear is its owner's alone until it takes its place, one file after the other")
    func unfinishedIsPrivate() throws {
        let places = Mutex<[String]>([])
        let readable = Mutex<[String: Int]>([:])
        // At each call: how many unfinished files others may read, at most.
        let disk = FaultyDisk { call in
            let unfinished = places.withLock { $0 }.flatMap { place in
                (try? FileManager.default.contentsOfDirectory(atPath: place))?.filter(Replacement.isName)
                    .map { place + "/" + $0 } ?? []
            }
            let count = unfinished.count { path in
                var status = stat()
                return lstat(path, &status) == 0 && status.st_mode & 0o077 != 0
            }
            readable.withLock { $0[call] = max($0[call] ?? 0, count) }
        }
        try withProtectedFiles(files: disk) { files, directory throws in
            let urls = try urls(in: directory)
            try prepare(urls, files, isProtecting: false)
            for url in urls { #expect(chmod(url.path, 0o644) == 0) }
            readable.withLock { $0 = [:] }
            places.withLock { $0 = [directory.path, directory.appendingPathComponent("other").path] }
            #expect(convert(urls, files, isProtecting: false).allSatisfy { $0 == nil })
            let most = readable.withLock { $0 }
            #expect(most["rename"] == 1 && most["write"] == 0 && most["open"] == 0)
            #expect(most.allSatisfy { $0.key == "rename" || $0.value == 0 }, "\(most)")
        }
    }

    @Test("Where the file system as a whole cannot be forced, each file is")
    func fallback() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let urls = try urls(in: directory)
            try prepare(urls, files, isProtecting: true)
            disk.fail(at: nil)
            _ = convert(urls, files, isProtecting: true)
            guard let step = disk.calls.firstIndex(of: "sync all") else { return }
            _ = convert(urls, files, isProtecting: false)
            disk.fail(at: step, .broken)
            #expect(convert(urls, files, isProtecting: true).allSatisfy { $0 == nil })
            // Its content, and what it is besides that, which it gets last.
            #expect(disk.calls.filter { $0 == "sync" }.count == 2 * Self.count)
            #expect(disk.calls.filter { $0 == "sync directory" }.count == 2)
        }
    }

    @Test("A file that another program writes to meanwhile stays as it is, and the others are done")
    func changedMeanwhile() throws {
        try withProtectedFiles { files, directory throws in
            let urls = try urls(in: directory)
            try prepare(urls, files, isProtecting: true)
            let batch = ConversionBatch(files)
            for url in urls { #expect(try batch.protect(url, as: nil, size: 1) { _ in }) }
            // Refused at once where it would wait: the file is its own again as soon as it is given up.
            #expect(open(urls[2].path, O_WRONLY | O_NONBLOCK) < 0 && errno == EWOULDBLOCK)
            let outcomes = batch.publish()
            #expect(outcomes.map { $0?.code } == [nil, nil, .changedMeanwhile, nil, nil])
            try Data("new".utf8).write(to: urls[2])
            #expect(try Data(contentsOf: urls[2]) == Data("new".utf8))
        }
    }

    @Test("The size of a protected file follows from that of its content")
    func storedSize() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            for count in [0, 1, 4096, 16_384, 16_385, 20_000, 1 << 20, (1 << 20) + 1, 5_000_000] {
                try files.write(content(count), to: url)
                let size = UInt64(try Data(contentsOf: url).count)
                let expected = ProtectedFiles.storedSize(ofContent: UInt64(count))
                // The last table is as long as it has entries.
                #expect(size <= expected && expected < size + 4096)
            }
            #expect(ProtectedFiles.storedSize(ofContent: .max) > 0)
        }
    }
}
