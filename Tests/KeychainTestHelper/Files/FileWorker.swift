import CKeychainTestSupport
import DataProtection
import DataProtectionCore
import Foundation
import Glibc
import KeychainClient
import KeychainEngine
import KeychainFileModel
import KeychainModel
import KeychainTestSupport
import SwiftKeychain

/// A program that works on the protected file `files/file` of a keychain's directory, beside others.
struct FileWorker {
    enum Work: String {
        /// Fills a part that lies in several chunks with one number after the other.
        case fill
        /// Reads that part until standard input ends: each read is one number.
        case read
        /// Counts upwards in a place of its own, in the same chunk as others.
        case count
        /// Appends records.
        case append
        /// Writes in a place of its own, forks, and says what the child was told that used the file, and what its parent
        /// reads then.
        case fork
    }

    /// The part that is filled, from the middle of a chunk to the middle of another one.
    static let part = (offset: UInt64(1_040_000), count: 50_000)
    /// Where a worker counts.
    static func place(of worker: Int) -> UInt64 { UInt64(100 + worker * 8) }

    /// The file of a keychain's directory.
    static func file(in directory: URL) -> URL { directory.appendingPathComponent("files/file") }

    /// Files of that keychain.
    static func files(in directory: URL, chunkBits: UInt8? = nil) throws -> ProtectedFiles {
        let engine = try Engine(.test(in: directory, clock: SystemClock()))
        return ProtectedFiles(
            connection: Connection(engine: engine, caller: Caller(groups: ["G"])), chunkBits: chunkBits)
    }

    private let handle: ProtectedFileHandle
    private let number: Int
    private let count: Int

    private init(_ directory: URL, number: Int, count: Int, forReading: Bool) throws {
        handle = try Self.files(in: directory).open(Self.file(in: directory), for: forReading ? .reading : .writing)
        self.number = number
        self.count = count
    }

    static func run(_ name: String, in directory: String, _ number: Int, _ count: Int) throws {
        guard let work = Work(rawValue: name) else { throw HelperFailure("unknown work \(name)") }
        try FileWorker(URL(fileURLWithPath: directory), number: number, count: count, forReading: work == .read)
            .run(work)
    }

    private func run(_ work: Work) throws {
        say("begun")
        switch work {
        case .fill: try fill()
        case .read: try read()
        case .count: try countUp()
        case .append: try append()
        case .fork: try forkChild()
        }
    }

    private func fill() throws {
        for value in 1...count {
            try handle.write(Data(repeating: UInt8(value % 251), count: Self.part.count), at: Self.part.offset)
            if value % 7 == 0 { try handle.sync() }
        }
    }

    private func read() throws {
        var values: Set<UInt8> = []
        var reads = 0
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        // Until whoever started it closes the pipe.
        while poll(&input, 1, 0) == 0 || reads < count {
            let found = try handle.read(at: Self.part.offset, count: Self.part.count)
            guard let first = found.first, found.allSatisfy({ $0 == first }), found.count == Self.part.count else {
                throw HelperFailure("a read gave parts of several versions")
            }
            values.insert(first)
            reads += 1
        }
        say("\(values.count)")
    }

    private func countUp() throws {
        let place = Self.place(of: number)
        let former = try handle.read(at: place, count: 8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        for value in (former + 1)...(former + UInt64(count)) {
            try handle.write(withUnsafeBytes(of: value) { Data($0) }, at: place)
            let found = try handle.read(at: place, count: 8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
            guard found == value else { throw HelperFailure("\(value) was written over by \(found)") }
        }
    }

    private func forkChild() throws {
        let place = Self.place(of: number)
        try handle.write(Data("new".utf8), at: place)
        let child = ckeychain_test_fork()
        if child == 0 {
            let calls: [() throws -> Void] = [
                handle.sync, { _ = try handle.length }, { try handle.write(Data("bad".utf8), at: place) },
                { try handle.truncate(to: 0) }, { _ = try handle.read(at: place, count: 3) }, handle.close,
            ]
            let refused = calls.count { call in
                (Result { try call() }.failure as? DataProtectionError)?.code == .keysUnavailable
            }
            _exit(Int32(refused))
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        let found = try handle.read(at: place, count: 3)
        try handle.sync()
        say("\(status >> 8) of 6 refused, then \(String(decoding: found, as: UTF8.self))")
    }

    private func append() throws {
        for value in 0..<count {
            try handle.append(FileRecord(worker: UInt8(number), value: UInt32(value)).bytes)
            if value % 10 == 0 { try handle.sync() }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
