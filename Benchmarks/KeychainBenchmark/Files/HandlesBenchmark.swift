internal import DataProtection
internal import Foundation
internal import Glibc
internal import KeychainClient
internal import SwiftKeychain

/// The rows of `files --handles`: protected files that are open, against plain ones.
struct HandlesBenchmark {
    let files: ProtectedFiles
    let lock: KeychainLock
    let directory: URL
    let plan: FilesCommand

    private static let block = 4096
    private var size: Int { plan.size << 20 }

    // MARK: Blocks of 4 KiB at random places

    func randomBlocks() throws -> [Row] {
        let (plain, protected) = try pair()
        defer { close(plain) }
        let handle = try files.open(protected, for: .writing)
        // It knows of this one's writes what the file says, as the handle of another program does.
        let other = try files.open(protected, for: .writing)
        let block = PlainFile.content(Self.block)
        var bytes = [UInt8](repeating: 0, count: Self.block)
        var places = RandomPlaces(count: UInt64(size / Self.block))
        // Both files are in memory, and the nodes are known.
        for _ in 0..<2000 {
            let place = places.next()
            try handle.write(block, at: place)
            _ = try bytes.withUnsafeMutableBytes { try handle.read(at: place, into: $0) }
        }
        try handle.sync()
        func write(_ place: UInt64) throws {
            let count = block.withUnsafeBytes { pwrite(plain, $0.baseAddress, $0.count, off_t(place)) }
            guard count == Self.block else { throw CocoaError(.fileWriteUnknown) }
        }
        let reads = try interleaved(plan.rounds, 2000) { place in
            let count = bytes.withUnsafeMutableBytes { pread(plain, $0.baseAddress, $0.count, off_t(place)) }
            guard count == Self.block else { throw CocoaError(.fileReadUnknown) }
        } ours: { place in
            _ = try bytes.withUnsafeMutableBytes { try handle.read(at: place, into: $0) }
        }
        let writes = try interleaved(plan.rounds, 2000, write, ours: { try handle.write(block, at: $0) }) {
            try handle.sync()
        }
        var isOther = false
        let shared = try interleaved(plan.rounds, 2000, write) { place in
            isOther.toggle()
            try (isOther ? other : handle).write(block, at: place)
        } between: {
            try handle.sync()
        }
        let synced = try interleaved(plan.rounds, 200) { place in
            try write(place)
            guard fdatasync(plain) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } ours: { place in
            try handle.write(block, at: place)
            try handle.sync()
        }
        try handle.close()
        try other.close()
        let name = "\(plan.size) MiB"
        return [
            Row(
                work: "random read of 4 KiB, cached, \(name)", unit: .microseconds, floor: reads.plain,
                engine: reads.ours, measure: .value, goal: 10),
            Row(
                work: "random write of 4 KiB, \(name)", unit: .microseconds, floor: writes.plain, engine: writes.ours,
                measure: .value, goal: 25),
            Row(
                work: "the same, two handles in turn, \(name)", unit: .microseconds, floor: shared.plain,
                engine: shared.ours, measure: .value, goal: 50),
            Row(
                work: "random write of 4 KiB and sync, \(name)", unit: .microseconds, floor: synced.plain,
                engine: synced.ours, measure: .ratio, goal: 1.25),
        ]
    }

    /// Each round the same number of calls of both, in turn.
    private func interleaved(
        _ rounds: Int, _ count: Int, _ plain: (UInt64) throws -> Void, ours: (UInt64) throws -> Void,
        between: () throws -> Void = {}
    ) throws -> (plain: Figure, ours: Figure) {
        var (plainTimes, times): ([Double], [Double]) = ([], [])
        var places = RandomPlaces(count: UInt64(size / Self.block))
        for _ in 0..<rounds {
            for _ in 0..<count {
                let place = places.next()
                plainTimes.append(try Stopwatch.time { try plain(place) }.microseconds)
            }
            for _ in 0..<count {
                let place = places.next()
                times.append(try Stopwatch.time { try ours(place) }.microseconds)
            }
            try between()
        }
        return (Figure(samples: plainTimes), Figure(samples: times))
    }

    /// A plain file and a protected one of the same content.
    private func pair() throws -> (plain: Int32, protected: URL) {
        let (plain, protected) = (directory.appendingPathComponent("plain"), directory.appendingPathComponent("open"))
        let content = PlainFile.content(size)
        try PlainFile.write(content, to: plain)
        try files.write(content, to: protected, protection: .complete)
        let file = open(plain.path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileReadUnknown) }
        return (file, protected)
    }

    // MARK: From beginning to end

    func sequential() throws -> [Row] {
        let url = directory.appendingPathComponent("sequential")
        let content = PlainFile.content(size)
        let part = 1 << 20
        var (whole, handles, wholeReads, handleReads): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<plan.rounds {
            whole.append(try Stopwatch.time { try files.write(content, to: url, protection: .complete) }.microseconds)
            try PlainFile.evict(url)
            wholeReads.append(
                try Stopwatch.time { try files.read(from: url) { _ in } }.microseconds)
            unlink(url.path)
            handles.append(
                try Stopwatch.time {
                    let handle = try files.open(url, for: .writing, options: .create, protection: .complete)
                    for start in stride(from: 0, to: size, by: part) {
                        try content.withUnsafeBytes { bytes in
                            try handle.write(
                                UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + part, size)]),
                                at: UInt64(start))
                        }
                    }
                    try handle.close()
                }.microseconds)
            try PlainFile.evict(url)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: part, alignment: 4096)
            defer { buffer.deallocate() }
            handleReads.append(
                try Stopwatch.time {
                    let handle = try files.open(url)
                    var place: UInt64 = 0
                    while true {
                        let count = try handle.read(at: place, into: buffer)
                        if count == 0 { break }
                        place += UInt64(count)
                    }
                    guard place == size else { throw WrongContent() }
                }.microseconds)
        }
        let name = "\(plan.size) MiB in parts of 1 MiB, against one call"
        return [
            Row(
                work: "write and sync, \(name)", unit: .microseconds, floor: Figure(median: whole),
                engine: Figure(median: handles), measure: .ratio, goal: 1 / 0.9),
            Row(
                work: "cold read, \(name)", unit: .microseconds, floor: Figure(median: wholeReads),
                engine: Figure(median: handleReads), measure: .ratio, goal: 1 / 0.9),
        ]
    }

    // MARK: Opening and locking

    func opening() throws -> [Row] {
        let url = directory.appendingPathComponent("gigabyte")
        if !FileManager.default.fileExists(atPath: url.path) {
            try FilesBenchmark(files: files, directory: directory, plan: plan).writeStream(to: url, byteCount: 1 << 30)
        }
        try files.setProtection(.complete, of: url)
        var times: [Double] = []
        var places = RandomPlaces(count: 1 << 18)
        for _ in 0..<200 {
            let place = places.next()
            times.append(
                try Stopwatch.time {
                    let handle = try files.open(url)
                    guard try handle.read(at: place, count: Self.block).count == Self.block else {
                        throw WrongContent()
                    }
                }.microseconds)
        }
        return [
            Row(
                work: "open and read 4 KiB of 1 GiB", unit: .microseconds, engine: Figure(samples: times),
                measure: .value, goal: 1000)
        ]
    }

    /// From the call that locks until no handle has its key.
    func locking() throws -> [Row] {
        let count = plan.handles
        try OpenFileLimit.raise(to: count + 1000)
        try lock.setPasscode(Data("1234".utf8))
        var handles: [ProtectedFileHandle] = []
        for number in 0..<count {
            let url = directory.appendingPathComponent("locked-\(number)")
            try files.write(Data("content".utf8), to: url, protection: .complete, options: .withoutWaitingForDisk)
            handles.append(try files.open(url, for: .writing))
        }
        let (time, _) = try Stopwatch.time {
            try lock.lock()
            while handles.contains(where: { $0.hasKey }) { usleep(1000) }
        }
        // Nothing of the store stays in the kernel's keyring.
        try lock.unlock(passcode: Data("1234".utf8))
        try lock.removePasscode(Data("1234".utf8))
        return [
            Row(
                work: "\(count) open files of class A lose their keys", unit: .microseconds, engine: Figure(time),
                measure: .value, goal: 1_000_000)
        ]
    }
}

/// Places of blocks, as they come.
struct RandomPlaces {
    let count: UInt64
    private var state: UInt64 = 88_172_645_463_325_252

    init(count: UInt64) { self.count = count }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state % count * 4096
    }
}

/// How many files the process may have open.
enum OpenFileLimit {
    static func raise(to count: Int) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = max(limit.rlim_cur, rlim_t(count))
        limit.rlim_max = max(limit.rlim_max, limit.rlim_cur)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
        }
    }
}
