internal import Foundation
internal import Glibc

/// A file as programs without protection have it.
enum PlainFile {
    /// Bytes that no disk compresses.
    static func content(_ count: Int) -> Data {
        var data = Data(count: (count + 7) / 8 * 8)
        data.withUnsafeMutableBytes { bytes in
            var state: UInt64 = 1
            for index in bytes.bindMemory(to: UInt64.self).indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.storeBytes(of: state ^ state >> 29, toByteOffset: index * 8, as: UInt64.self)
            }
        }
        return data.prefix(count)
    }

    /// A new file, in pieces of a mebibyte.
    static func write(_ content: Data, to url: URL, isSynced: Bool = true) throws {
        unlink(url.path)
        let file = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        try require(file >= 0)
        defer { close(file) }
        try content.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.write(file, bytes.baseAddress! + done, min(1 << 20, bytes.count - done))
                try require(count > 0)
                done += count
            }
        }
        if isSynced { try require(fsync(file) == 0) }
    }

    /// All of it, into memory that is released again.
    static func read(_ url: URL) throws {
        let file = open(url.path, O_RDONLY | O_CLOEXEC)
        try require(file >= 0)
        defer { close(file) }
        var status = stat()
        try require(fstat(file, &status) == 0)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(status.st_size), alignment: 4096)
        defer { bytes.deallocate() }
        posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL)
        var done = 0
        while done < bytes.count {
            let count = Glibc.read(file, bytes.baseAddress! + done, min(1 << 20, bytes.count - done))
            try require(count > 0)
            done += count
        }
    }

    static func sync(_ url: URL) throws {
        let file = open(url.path, O_RDONLY | O_CLOEXEC)
        try require(file >= 0)
        defer { close(file) }
        try require(fsync(file) == 0)
    }

    /// Takes it out of the page cache.
    static func evict(_ url: URL) throws {
        let file = open(url.path, O_RDONLY | O_CLOEXEC)
        try require(file >= 0)
        defer { close(file) }
        try require(fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0)
    }

    private static func require(_ isTrue: Bool) throws {
        if !isTrue { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}

/// How much more memory a piece of work needs than there was in use before.
enum ResidentMemory {
    static func growth(_ work: () throws -> Void) throws -> Int {
        // Makes the kernel forget the highest value so far (proc_pid_clear_refs(5)).
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let before = try value("VmRSS:")
        try work()
        return max(0, try value("VmHWM:") - before)
    }

    private static func value(_ name: String) throws -> Int {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/status"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let number = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw CocoaError(.fileReadCorruptFile) }
        return number * 1024
    }
}

/// Another program, which must succeed.
enum ExternalProgram {
    /// What it says, on either of its outputs.
    static func output(_ path: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: "\(path): \(text)"])
        }
        return text
    }
}
