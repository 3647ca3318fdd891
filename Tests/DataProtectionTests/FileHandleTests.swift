import Foundation
import Glibc
import KeychainClient
import KeychainTestSupport
import SwiftKeychain
import Testing

@testable import DataProtection
@testable import DataProtectionCore

/// What can be done with a protected file that is open.
@Suite struct FileHandleTests {
    private func file(_ directory: URL, _ name: String = "file") -> URL { directory.appendingPathComponent(name) }

    @Test("What is written at a place is read there, by this handle, another one and as a whole file")
    func places() throws {
        try withProtectedFiles { files, directory throws in
            let url = file(directory)
            let handle = try files.open(url, for: .writing, options: .create, protection: .complete)
            #expect(try handle.length == 0 && handle.read(at: 0, count: 10).isEmpty)
            let other = try files.open(url)
            var expected = Data()
            for (offset, count) in [
                (0, 5), (3, 4), (16_380, 10), (100_000, 1), (50_000, 40_000), (0, 16_384), (16_384, 16_384), (7, 1),
                (1_100_000, 70_000), (1_048_570, 30),
            ] {
                let part = content(count, seed: UInt64(offset + count))
                try handle.write(part, at: UInt64(offset))
                if expected.count < offset + count { expected += Data(count: offset + count - expected.count) }
                expected.replaceSubrange(offset..<(offset + count), with: part)
                #expect(try handle.length == expected.count)
                #expect(try other.read(at: 0, count: expected.count + 5) == expected, "\(offset) \(count)")
                #expect(try files.read(from: url) == expected)
                #expect(try handle.read(at: UInt64(offset), count: count) == part)
            }
            try handle.close()
            #expect(try files.read(from: url) == expected)
            #expect(try files.protection(of: url) == .complete)
            let raw = try Data(contentsOf: url)
            #expect(raw.range(of: expected.prefix(64)) == nil)
        }
    }

    @Test("A file that was written whole can be changed in place, and is still as small as it can be")
    func whole() throws {
        try withProtectedFiles { files, directory throws in
            let url = file(directory)
            for count in [0, 1, 5_000, 16_384, 70_000, 1_100_000] {
                var expected = content(count)
                try files.write(expected, to: url)
                let handle = try files.open(url, for: .writing)
                for offset in stride(from: 0, to: count, by: 30_011) {
                    let part = content(min(100, count - offset), seed: 7)
                    try handle.write(part, at: UInt64(offset))
                    expected.replaceSubrange(offset..<(offset + part.count), with: part)
                }
                #expect(try handle.append(Data("end".utf8)) == count)
                expected += Data("end".utf8)
                #expect(try files.read(from: url) == expected, "\(count) bytes")
                try handle.close()
                #expect(try files.read(from: url) == expected)
                #expect(try handle.isOpenAfterwards == false)
            }
        }
    }

    @Test("Content is cut off, made longer and made zeros")
    func lengths() throws {
        try withProtectedFiles { files, directory throws in
            let url = file(directory)
            var expected = content(2_500_000)
            try files.write(expected, to: url)
            let handle = try files.open(url, for: .writing)
            for length in [
                2_500_001, 2_400_000, 1_048_576, 1_048_575, 3_000_000, 70_000, 16_384, 40_000, 16_383, 1, 0, 9,
            ] {
                try handle.truncate(to: UInt64(length))
                expected =
                    length <= expected.count ? expected.prefix(length) : expected + Data(count: length - expected.count)
                #expect(try handle.length == length)
                #expect(try files.read(from: url) == expected, "\(length)")
            }
            expected = content(5_000_000, seed: 3)
            try handle.write(expected, at: 0)
            for range in [
                0..<1, 10..<40_000, 16_384..<32_768, 4_000_000..<5_000_000, 999_999..<4_100_000, 0..<5_000_000,
            ] {
                try handle.punch(UInt64(range.lowerBound)..<UInt64(range.upperBound))
                expected.replaceSubrange(range, with: Data(count: range.count))
                #expect(try files.read(from: url) == expected, "\(range)")
            }
            try handle.sync()
            #expect(try files.info(of: url).storedSize == 4096, "nothing is stored of zeros")
            #expect(try handle.length == 5_000_000)
        }
    }
}

extension ProtectedFileHandle {
    fileprivate var isOpenAfterwards: Bool {
        get throws {
            do throws(DataProtectionError) {
                _ = try length
                return true
            } catch {
                guard error.errno == EBADF else { throw error }
                return false
            }
        }
    }
}
