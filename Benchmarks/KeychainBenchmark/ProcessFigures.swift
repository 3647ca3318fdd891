internal import Foundation

/// What the kernel counts of this process.
enum ProcessFigures {
    /// Bytes handed to write calls: the figure the floor gives of itself, see `bytes_written` in floor.c.
    static func bytesWritten() throws -> Double { try value("wchar", in: "/proc/self/io") }

    /// The largest resident size so far, in bytes.
    static func peakResident() throws -> Double { try value("VmHWM", in: "/proc/self/status") * 1024 }

    /// Resident memory that is not part of a file: what the process alone costs.
    static func anonymousResident() throws -> Double { try value("RssAnon", in: "/proc/self/status") * 1024 }

    private static func value(_ name: String, in path: String) throws -> Double {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count > 1, let value = Double(words[1]) { return value }
        }
        throw BenchmarkError("\(path) has no line \"\(name)\"")
    }
}
