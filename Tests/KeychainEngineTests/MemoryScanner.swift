import Foundation
import Glibc

/// Looks for bytes in the memory of another process, as root or a debugger does.
struct MemoryScanner {
    let process: Int32

    /// The names of those needles that are somewhere in memory that the process can write: its stacks, its heap, its
    /// locked pages. A key counts as found by either of its halves.
    func hits(of needles: [String: Data]) throws -> Set<String> {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }
        defer { close(memory) }
        var found: Set<String> = []
        for region in try regions() {
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: region.count, alignment: 16)
            defer { bytes.deallocate() }
            // A region may be gone by now, or not be readable.
            let count = pread(memory, bytes.baseAddress, bytes.count, off_t(region.lowerBound))
            guard count > 0 else { continue }
            for (name, needle) in needles where !found.contains(name) {
                let halves = [needle.prefix(needle.count / 2), needle.suffix(needle.count / 2)]
                if halves.contains(where: { Self.contains(bytes, count, $0) }) { found.insert(name) }
            }
        }
        return found
    }

    /// Keys lie at any address, so all are looked at: first by their first byte, which the C library finds quickly.
    private static func contains(_ bytes: UnsafeMutableRawBufferPointer, _ count: Int, _ needle: Data) -> Bool {
        needle.withUnsafeBytes { needle in
            var place = 0
            while place + needle.count <= count,
                let next = memchr(bytes.baseAddress! + place, Int32(needle[0]), count - place - needle.count + 1)
            {
                if memcmp(next, needle.baseAddress!, needle.count) == 0 { return true }
                place = UnsafeRawPointer(next) - UnsafeRawPointer(bytes.baseAddress!) + 1
            }
            return false
        }
    }

    private func regions() throws -> [Range<UInt>] {
        // Not by the size of the file, which is said to be 0.
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/maps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        return maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 1, fields[1].hasPrefix("rw"), fields.last != "[vvar]" else { return nil }
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return ends.count == 2 ? ends[0]..<ends[1] : nil
        }
    }
}
