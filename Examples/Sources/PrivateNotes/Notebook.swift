import Foundation

/// Notes in files that open only while the device is unlocked. They can be written from any thread.
nonisolated struct Notebook {
    let directory: URL

    func url(of note: String) -> URL {
        directory.appendingPathComponent(note).appendingPathExtension("txt")
    }

    /// Encrypts a file as it is written.
    func write(_ text: String, to fileURL: URL) throws {
        let data = Data(text.utf8)
        try data.write(to: fileURL, options: .completeFileProtection)
    }

    /// Encrypts a file that is there already.
    func protect(_ fileURL: URL) throws {
        try (fileURL as NSURL).setResourceValue(
            URLFileProtection.complete,
            forKey: .fileProtectionKey)
    }

    func text(of fileURL: URL) throws -> String {
        try String(contentsOf: fileURL, encoding: .utf8)
    }

    func protection(of fileURL: URL) throws -> FileProtectionType? {
        try FileManager.default.attributesOfItem(atPath: fileURL.path)[.protectionKey] as? FileProtectionType
    }
}
