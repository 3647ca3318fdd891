internal import Foundation

/// What the kernel counts of a process: this one if no other is named.
enum ProcessFigures {
    /// Bytes handed to write calls: the figure the floor gives of itself, see `bytes_written` in floor.c.
    static func bytesWritten() throws -> Double { try value("wchar", in: "/proc/self/io") }

    /// The largest resident size so far, in bytes.
    static func peakResident() throws -> Double { try value("VmHWM", in: "/proc/self/status") * 1024 }

    /// The resident size, in bytes.
    static func resident(of process: Int32) throws -> Double {
        try value("VmRSS", in: "/proc/\(process)/status") * 1024
    }

    /// Resident memory that is not part of a file: what the process alone costs.
    static func anonymousResident(of process: Int32? = nil) throws -> Double {
        try value("RssAnon", in: "/proc/\(process.map(String.init) ?? "self")/status") * 1024
    }

    /// How often its threads have begun to wait for something: so often they were woken.
    static func voluntarySwitches(of process: Int32) throws -> Double {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
            sum + (try value("voluntary_ctxt_switches", in: "\(tasks)/\(task)/status"))
        }
    }

    static func threads(of process: Int32) throws -> Double { try value("Threads", in: "/proc/\(process)/status") }

    static func descriptors(of process: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    private static func value(_ name: String, in path: String) throws -> Double {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count > 1, let value = Double(words[1]) { return value }
        }
        throw BenchmarkError("\(path) has no line \"\(name)\"")
    }
}
