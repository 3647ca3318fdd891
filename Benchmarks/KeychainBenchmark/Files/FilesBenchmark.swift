internal import DataProtection
internal import Foundation
internal import Glibc

/// The rows of `files`. What is compared takes turns, so that a slow second meets both.
struct FilesBenchmark {
    let files: ProtectedFiles
    let directory: URL
    let plan: FilesCommand

    private var size: Int { plan.size << 20 }

    // MARK: One large file

    func large() throws -> [Row] {
        let content = PlainFile.content(size)
        let plain = directory.appendingPathComponent("plain")
        let protected = directory.appendingPathComponent("protected")
        var (writes, sealedWrites, reads, sealedReads): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<plan.rounds {
            writes.append(try Stopwatch.time { try PlainFile.write(content, to: plain) }.microseconds)
            sealedWrites.append(try Stopwatch.time { try files.write(content, to: protected) }.microseconds)
            try PlainFile.evict(plain)
            reads.append(try Stopwatch.time { try PlainFile.read(plain) }.microseconds)
            try PlainFile.evict(protected)
            let (time, read) = try Stopwatch.time { try files.read(from: protected) }
            guard read == content else { throw WrongContent() }
            sealedReads.append(time)
        }
        let name = "\(plan.size) MiB"
        return [
            Row(
                work: "write and fsync, \(name), plain", unit: .microseconds, floor: Figure(median: writes),
                engine: Figure(median: sealedWrites), measure: .ratio, goal: 1.3),
            Row(
                work: "cold read, \(name), plain", unit: .microseconds, floor: Figure(median: reads),
                engine: Figure(median: sealedReads), measure: .ratio, goal: 1.5),
        ]
    }

    /// The same against age, which writes a file that cannot be changed any more.
    func withAge() throws -> [Row] {
        guard let age = plan.age else {
            tell("Without --age there is no comparison with it.")
            return []
        }
        let (plain, sealed) = (directory.appendingPathComponent("plain"), directory.appendingPathComponent("sealed"))
        let key = directory.appendingPathComponent("key")
        let protected = directory.appendingPathComponent("protected")
        let content = try Data(contentsOf: plain)
        let recipient =
            try ExternalProgram.output(age + "-keygen", ["-o", key.path])
            .split(separator: " ").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
        var (writes, ours, reads, oursRead): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<min(3, plan.rounds) {
            writes.append(
                try Stopwatch.time {
                    _ = try ExternalProgram.output(age, ["-r", recipient, "-o", sealed.path, plain.path])
                    try PlainFile.sync(sealed)
                }.microseconds)
            ours.append(try Stopwatch.time { try files.write(content, to: protected) }.microseconds)
            try PlainFile.evict(sealed)
            reads.append(
                try Stopwatch.time {
                    _ = try ExternalProgram.output(age, ["-d", "-i", key.path, "-o", "/dev/null", sealed.path])
                }.microseconds)
            try PlainFile.evict(protected)
            oursRead.append(try Stopwatch.time { _ = try files.read(from: protected) }.microseconds)
        }
        return [
            Row(
                work: "write and fsync, \(plan.size) MiB, age", unit: .microseconds, floor: Figure(median: writes),
                engine: Figure(median: ours), measure: .ratio, goal: 1),
            Row(
                work: "cold read, \(plan.size) MiB, age", unit: .microseconds, floor: Figure(median: reads),
                engine: Figure(median: oursRead), measure: .ratio, goal: 1),
        ]
    }

    // MARK: Many small files

    func small() throws -> [Row] {
        defer { if let mount = plan.gocryptfs { removeContent(of: mount) } }
        let content = PlainFile.content(1024)
        var rows: [Row] = []
        for isSynced in [false, true] {
            let name = "\(plan.files) files of 1 KiB" + (isSynced ? ", each on the disk" : "")
            let count = isSynced ? plan.files / 10 : plan.files
            let options: ProtectedFiles.WriteOptions = isSynced ? [] : .withoutWaitingForDisk
            var (plain, ours, mounted): ([Double], [Double], [Double]) = ([], [], [])
            for _ in 0..<3 {
                plain.append(
                    try rate(count, in: directory) { try PlainFile.write(content, to: $0, isSynced: isSynced) })
                ours.append(
                    try rate(count, in: directory) {
                        try files.write(content, to: $0, protection: .complete, options: options)
                    })
                if let mount = plan.gocryptfs {
                    mounted.append(
                        try rate(count, in: URL(fileURLWithPath: mount)) {
                            try PlainFile.write(content, to: $0, isSynced: isSynced)
                        })
                }
            }
            rows.append(
                Row(
                    work: "\(name), plain", unit: .callsPerSecond, floor: Figure(median: plain),
                    engine: Figure(median: ours), measure: .ratio))
            if !mounted.isEmpty {
                rows.append(
                    Row(
                        work: "\(name), gocryptfs", unit: .callsPerSecond, floor: Figure(median: mounted),
                        engine: Figure(median: ours), measure: .ratio, goal: isSynced ? nil : 1.5))
            }
        }
        return rows
    }

    private func removeContent(of mount: String) {
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: mount) {
                try FileManager.default.removeItem(atPath: mount + "/" + name)
            }
        } catch {
            tell("\(mount) is not empty: \(error)")
        }
    }

    /// Files a second, in a directory of their own.
    private func rate(_ count: Int, in parent: URL, _ make: (URL) throws -> Void) throws -> Double {
        let place = parent.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        let urls = (0..<count).map { place.appendingPathComponent("file-\($0)") }
        let (time, _) = try Stopwatch.time { for url in urls { try make(url) } }
        // Not removed before all are measured: ext4 does not use the numbers of files again that were deleted a moment ago,
        // and looks for others for longer than it takes to make one.
        return Double(count) / (time / 1e6)
    }

    // MARK: Whatever the size

    func classChange() throws -> [Row] {
        let url = directory.appendingPathComponent("gigabyte")
        try writeStream(to: url, byteCount: 1 << 30)
        var times: [Double] = []
        for round in 0..<20 {
            let protection: FileProtection = round % 2 == 0 ? .completeUnlessOpen : .complete
            times.append(try Stopwatch.time { try files.setProtection(protection, of: url) }.microseconds)
        }
        return [
            Row(
                work: "change of class, 1 GiB", unit: .microseconds, engine: Figure(samples: times), measure: .value,
                goal: 20_000)
        ]
    }

    func memory() throws -> [Row] {
        let url = directory.appendingPathComponent("gigabyte")
        let writing = try ResidentMemory.growth { try writeStream(to: url, byteCount: 1 << 30) }
        var count = 0
        let reading = try ResidentMemory.growth { try files.read(from: url) { count += $0.count } }
        guard count == 1 << 30 else { throw WrongContent() }
        return [("writing", writing), ("reading", reading)].map { name, bytes in
            Row(
                work: "memory for \(name) 1 GiB in parts", unit: .bytes, engine: Figure(Double(bytes)),
                measure: .value, goal: 32 * 1_048_576)
        }
    }

    func writeStream(to url: URL, byteCount: Int) throws {
        var rest = byteCount
        try files.write(to: url) { target in
            let count = min(rest, target.count)
            // Not all zeros: a disk may be faster with those.
            target.baseAddress?.initializeMemory(
                as: UInt8.self, repeating: UInt8(truncatingIfNeeded: rest), count: count)
            rest -= count
            return count
        }
    }
}

struct WrongContent: Error {}
