internal import Foundation

/// Looks for values in the clear, byte for byte, in whole files.
enum PlaintextScanner {
    /// Every file below the directories, by path.
    static func files(in directories: [URL]) throws -> [URL] {
        try directories.flatMap { directory in
            try FileManager.default.subpathsOfDirectory(atPath: directory.path).sorted()
                .map { directory.appendingPathComponent($0) }
        }
    }

    static func hits(of values: [String], in files: [URL]) throws -> [String] {
        let contents = try files.map { try Data(contentsOf: $0) }
        return values.filter { value in
            contents.contains { $0.range(of: Data(value.utf8)) != nil }
        }
    }
}
