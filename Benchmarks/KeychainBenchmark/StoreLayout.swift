internal import Foundation

/// Where the stores of one size lie.
struct StoreLayout {
    /// The directory of all sizes.
    let root: URL
    let items: Int

    private var directory: URL { root.appendingPathComponent("items-\(items)") }

    var engine: URL { directory.appendingPathComponent("engine") }
    /// Of the engine: the store itself, and the directory of its device key.
    var store: URL { engine.appendingPathComponent("store") }
    var deviceKey: URL { engine.appendingPathComponent("state/keychain") }
    var floor: URL { directory.appendingPathComponent("floor") }
    /// A copy of the engine's store, for as long as it is measured with a passcode.
    var copy: URL { directory.appendingPathComponent("engine-copy") }
    /// There once both are filled.
    private var marker: URL { directory.appendingPathComponent("filled") }

    /// The numbers in a list with commas, the smallest first.
    static func sizes(_ list: String) -> [Int] {
        list.split(separator: ",").compactMap { Int($0.filter { $0 != "_" && $0 != " " }) }.sorted()
    }

    var isFilled: Bool { FileManager.default.fileExists(atPath: marker.path) }

    func reset() throws {
        if FileManager.default.fileExists(atPath: directory.path) { try FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func markFilled() throws { try Data().write(to: marker) }

    /// Reads every file once, so that neither program pays for a cold disk.
    func warmUp() throws {
        let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
        while let url = files?.nextObject() as? URL {
            guard !url.hasDirectoryPath, let file = FileHandle(forReadingAtPath: url.path) else { continue }
            defer { try? file.close() }  // only read from: nothing can be lost
            while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {}
        }
    }
}
