import DataProtection
import DataProtectionCore
import Foundation
import Glibc
import KeychainTestSupport
import Testing

/// What a handle does while something else changes its file as if it were a plain one.
@Suite struct DamagedOpenFileTests {
    private static let length = 300_000

    private func withHandle(_ body: (ProtectedFileHandle, URL, Data, ProtectedFiles) throws -> Void) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            var expected = content(Self.length)
            try files.write(expected, to: url)
            let handle = try files.open(url, for: .writing)
            try handle.write(content(70_000, seed: 2), at: 90_000)
            expected.replaceSubrange(90_000..<160_000, with: content(70_000, seed: 2))
            try handle.sync()
            try body(handle, url, expected, files)
        }
    }

    private func change(_ url: URL, at offset: Int, _ body: (UInt8) -> UInt8) throws {
        let file = open(url.path, O_RDWR)
        defer { close(file) }
        var byte: UInt8 = 0
        guard pread(file, &byte, 1, off_t(offset)) == 1 else { return }
        byte = body(byte)
        #expect(pwrite(file, &byte, 1, off_t(offset)) == 1)
    }

    /// nil: refused, in a way that says so.
    private func reading(_ handle: ProtectedFileHandle, _ range: Range<Int>) throws -> Data? {
        do throws(DataProtectionError) {
            return try handle.read(at: UInt64(range.lowerBound), count: range.count)
        } catch {
            guard [.tampered, .truncated, .notProtected, .newerFormat].contains(error.code) else { throw error }
            return nil
        }
    }

    private func attempt(_ body: () throws(DataProtectionError) -> Void) throws -> Bool {
        do throws(DataProtectionError) {
            try body()
            return true
        } catch {
            guard [.tampered, .truncated, .notProtected, .newerFormat].contains(error.code) else { throw error }
            return false
        }
    }

    @Test("A changed byte under an open handle gives an error or nothing at all, never wrong content")
    func flippedBytes() throws {
        var generator = SeededGenerator()
        try withHandle { handle, url, start, _ throws in
            var expected = start
            var refusals = 0
            for round in 0..<400 {
                // Not the headers: a damaged one makes the one before count, as the format says.
                let size = Int(try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0)
                let place = 4096 + generator.below(size - 4096)
                let bit = UInt8(1) << UInt8(generator.below(8))
                try change(url, at: place) { $0 ^ bit }
                let from = generator.below(Self.length)
                let range = from..<min(Self.length, from + 1 + generator.below(60_000))
                if let found = try reading(handle, range) {
                    #expect(found == expected[range], "round \(round), seed \(generator.seed)")
                } else {
                    refusals += 1
                }
                let offset = generator.below(Self.length - 40_000)
                let part = content(1 + generator.below(40_000), seed: UInt64(round))
                if try attempt({ () throws(DataProtectionError) in try handle.write(part, at: UInt64(offset)) }) {
                    expected.replaceSubrange(offset..<(offset + part.count), with: part)
                }
                // Mended; unless something was written there meanwhile, which is damaged by that, and not before.
                try change(url, at: place) { $0 ^ bit }
                if try reading(handle, 0..<Self.length) != expected {
                    try change(url, at: place) { $0 ^ bit }
                    let found = try handle.read(at: 0, count: Self.length)
                    #expect(found == expected, "round \(round), seed \(generator.seed)")
                }
                if round % 9 == 0 { try handle.sync() }
            }
            #expect(refusals > 0, "some of the changes are met")
        }
    }

    @Test("A changed byte in a header makes the other one count, or is refused")
    func flippedHeaders() throws {
        var generator = SeededGenerator()
        for round in 0..<60 {
            try withHandle { handle, url, durable, files throws in
                try handle.write(content(50, seed: 7), at: 10)
                var newest = durable
                newest.replaceSubrange(10..<60, with: content(50, seed: 7))
                for _ in 0..<(1 + round % 3) {
                    try change(url, at: generator.below(2) * 2048 + generator.below(512)) {
                        $0 ^ UInt8(1 + generator.below(255))
                    }
                }
                for reader in [handle, try? files.open(url)].compactMap({ $0 }) {
                    let found = try reading(reader, 0..<Self.length)
                    #expect(found == nil || found == durable || found == newest, "seed \(generator.seed)")
                }
            }
        }
    }

    @Test("When a header is damaged, two handles go on with the one that counts, and lose nothing of it")
    func flippedHeadersOfTwo() throws {
        var generator = SeededGenerator()
        try withHandle { first, url, start, files throws in
            let handles = [first, try files.open(url, for: .writing)]
            // A damaged header gives way to the state that was made durable last, or to the one before.
            var (expected, durable, number) = (start, [content(Self.length), start], 0)
            func sync(_ handle: ProtectedFileHandle) throws {
                try handle.sync()
                if durable.last != expected { durable = durable.suffix(1) + [expected] }
            }
            func write(_ handle: ProtectedFileHandle, _ round: Int) throws {
                let offset = generator.below(Self.length - 40_000)
                let part = content(1 + generator.below(generator.below(8) == 0 ? 40_000 : 3000), seed: UInt64(round))
                try handle.write(part, at: UInt64(offset))
                expected.replaceSubrange(offset..<(offset + part.count), with: part)
            }
            var fallen = 0
            for round in 0..<3000 {
                if generator.below(6) == 0 { number = 1 - number }
                let handle = handles[number]
                switch generator.below(60) {
                case 0:
                    try change(url, at: generator.below(2) * 2048 + generator.below(512)) { $0 ^ 1 }
                    // Either header may be the damaged one. The reader says which one counts.
                    let found = try files.open(url).read(at: 0, count: Self.length)
                    #expect((durable + [expected]).contains(found), "round \(round), seed \(generator.seed)")
                    if found != expected { fallen += 1 }
                    expected = found
                    // The other handle is left behind: this one makes both headers whole again, and goes on.
                    for _ in 0..<(2 + generator.below(60)) { try write(handle, round) }
                    try sync(handle)
                    try write(handle, round)
                    try sync(handle)
                case 1...6: try sync(handle)
                default:
                    try write(handle, round)
                }
                if round % 20 == 0 {
                    let found = try files.open(url).read(at: 0, count: Self.length)
                    #expect(found == expected, "round \(round), seed \(generator.seed)")
                    if found != expected { return }
                }
            }
            #expect(fallen > 0, "the newest header is met")
        }
    }

    @Test("A file that is cut short under an open handle gives an error or the right content")
    func cutShort() throws {
        var generator = SeededGenerator()
        for _ in 0..<30 {
            try withHandle { handle, url, expected, _ throws in
                let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
                #expect(truncate(url.path, off_t(generator.below(size))) == 0)
                for start in stride(from: 0, to: Self.length, by: 50_000) {
                    let range = start..<(start + 50_000)
                    let found = try reading(handle, range)
                    #expect(found == nil || found == expected[range], "seed \(generator.seed)")
                }
                _ = try attempt { () throws(DataProtectionError) in try handle.write(Data([1]), at: 0) }
                let found = try reading(handle, 1..<Self.length)
                #expect(found == nil || found == expected[1...], "seed \(generator.seed)")
            }
        }
    }

    @Test("Another protected file that is copied over one that is open is that file, or is refused")
    func copiedOver() throws {
        try withHandle { handle, url, _, files throws in
            let other = url.deletingLastPathComponent().appendingPathComponent("other")
            for count in [10, 20_000, 2_000_000] {
                try files.write(content(count, seed: 9), to: other, protection: .complete)
                // As cp does: into the same file.
                let bytes = try Data(contentsOf: other)
                let target = open(url.path, O_WRONLY | O_TRUNC)
                _ = bytes.withUnsafeBytes { write(target, $0.baseAddress, 4096) }
                // Half of it.
                let early = try reading(handle, 0..<count)
                #expect(early == nil || early == content(count, seed: 9))
                _ = bytes.withUnsafeBytes { pwrite(target, $0.baseAddress! + 4096, $0.count - 4096, 4096) }
                close(target)
                #expect(try handle.read(at: 0, count: count + 1) == content(count, seed: 9))
                #expect(try handle.protection == .complete)
                try handle.write(Data([1]), at: 0)
                try handle.sync()
                #expect(try files.read(from: url) == Data([1]) + content(count, seed: 9).dropFirst())
            }
        }
    }
}
