import DataProtection
import DataProtectionCore
import Foundation
import Glibc
import KeychainClient
import KeychainFileModel
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

/// One file that several programs, or several threads, read and write at the same time.
@Suite struct FileSharingTests {
    /// Another program that works on the file.
    private struct Worker {
        private let process: HelperProcess

        /// Returns when it has the file open.
        init(_ keychain: TestKeychain, _ work: String, number: Int = 0, count: Int) throws {
            process = try HelperProcess(
                words: ["file-worker", keychain.directory.path, work, "\(number)", "\(count)"])
            #expect(try readLine() == "begun")
        }

        func readLine() throws -> String? { try process.readLine() }

        /// Waits for its end.
        ///
        /// - Returns: its last line.
        func finish() throws -> String? {
            try process.endInput()
            let (lines, status) = try process.finish()
            #expect(status == 0)
            return lines.last
        }
    }

    private func withFile(
        _ body: (ProtectedFiles, URL, TestKeychain) throws -> Void
    ) throws {
        try withProtectedFiles { files, directory, keychain throws in
            let url = directory.appendingPathComponent("file")
            try files.write(Data(count: 1_200_000), to: url)
            try body(files, url, keychain)
        }
    }

    @Test("Whoever reads in one program while another writes gets one version, whole")
    func readersAndWriter() throws {
        try withFile { files, url, keychain throws in
            let readers = try (0..<2).map { _ in try Worker(keychain, "read", count: 20) }
            let writer = try Worker(keychain, "fill", count: 150)
            _ = try writer.finish()
            let versions = try readers.map { Int(try $0.finish() ?? "") ?? 0 }
            #expect(versions.allSatisfy { $0 > 1 }, "nothing was read meanwhile: \(versions)")
            let part = try files.open(url).read(at: 1_040_000, count: 50_000)
            #expect(part.allSatisfy { $0 == 150 })
        }
    }

    @Test("Programs that write within one chunk lose nothing of each other")
    func oneChunk() throws {
        try withFile { files, url, keychain throws in
            let workers = try (0..<3).map { try Worker(keychain, "count", number: $0, count: 100) }
            for worker in workers { _ = try worker.finish() }
            let values = try files.open(url).read(at: 100, count: 24)
            for number in 0..<3 {
                let value = values.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: number * 8, as: UInt64.self) }
                #expect(value == 100)
            }
        }
    }

    @Test("What programs append at once is all there, each record whole and in its program's order")
    func appending() throws {
        try withProtectedFiles { files, directory, keychain throws in
            let url = directory.appendingPathComponent("file")
            try files.write(Data(), to: url)
            let workers = try (0..<3).map { try Worker(keychain, "append", number: $0, count: 120) }
            for worker in workers { _ = try worker.finish() }
            let records = try #require(FileRecord.all(in: try files.read(from: url)))
            for number in 0..<3 as Range<UInt8> {
                #expect(records.filter { $0.worker == number }.map(\.value) == Array(0..<120))
            }
        }
    }

    @Test("A read of more than there is gives one version, also if the file grows while it is read")
    func growing() throws {
        try withFile { files, url, keychain throws in
            try files.write(Data("former".utf8), to: url, protection: .complete)
            let writer = try files.open(url, for: .writing)
            let mustGrow = Mutex(false)
            let connection = Connection(engine: keychain.handler, caller: Caller(groups: ["G"]))
            let growing = ProtectedFiles(
                connection: connection,
                now: {
                    // A read asks for the time once it knows the version.
                    let mustGrowNow = mustGrow.withLock { must in
                        defer { must = false }
                        return must
                    }
                    if mustGrowNow {
                        #expect(throws: Never.self) { try writer.write(Data("grown by more".utf8), at: 0) }
                    }
                    return .now
                })
            let reader = try growing.open(url)
            mustGrow.withLock { $0 = true }
            #expect(try reader.read(at: 0, count: 100) == Data("former".utf8))
            #expect(try reader.read(at: 0, count: 100) == Data("grown by more".utf8))
        }
    }

    @Test("A forked child cannot use what its parent has opened, and does not spoil it")
    func forkedChild() throws {
        try withFile { files, url, keychain throws in
            let worker = try Worker(keychain, "fork", count: 1)
            #expect(try worker.finish() == "6 of 6 refused, then new")
            let handle = try files.open(url, for: .writing)
            #expect(try handle.read(at: 100, count: 3) == Data("new".utf8))
            try handle.close()
        }
    }

    @Test("Threads that share a handle write side by side, and read whole versions")
    func threads() throws {
        try withFile { files, url, _ throws in
            let shared = try files.open(url, for: .writing)
            let own = try files.open(url, for: .writing)
            let mixtures = Mutex(0)
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { number in
                let handle = number % 3 == 2 ? own : shared
                do {
                    for value in 1...40 {
                        switch number {
                        case 0, 2:
                            let part = Data(repeating: UInt8(value), count: 40_000)
                            try handle.write(part, at: 1_040_000)
                        case 1, 5:
                            let found = try handle.read(at: 1_040_000, count: 40_000)
                            if Set(found).count != 1 { mixtures.withLock { $0 += 1 } }
                        default:
                            // In one chunk.
                            try handle.write(Data([UInt8(value)]), at: UInt64(number))
                            if try handle.read(at: UInt64(number), count: 1).first != UInt8(value) {
                                mixtures.withLock { $0 += 1 }
                            }
                            if value % 10 == 0 { try handle.sync() }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(mixtures.withLock { $0 } == 0)
            #expect(failures.withLock { $0 } == [])
            #expect(try shared.read(at: 3, count: 2) == Data([40, 40]))
            #expect(try shared.read(at: 1_050_000, count: 1) == Data([40]))
        }
    }
}
