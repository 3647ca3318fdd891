import Foundation

extension Tool {
    func path(_ name: String) -> String { home.appendingPathComponent(name).path }

    /// Makes a plain file, and the directories above it.
    ///
    /// - Returns: its path.
    @discardableResult
    func file(_ name: String, _ content: Data = Data("content".utf8)) throws -> String {
        let path = path(name)
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Bytes of all values that do not repeat soon.
    func bytes(_ count: Int) -> Data {
        var state: UInt64 = 1
        return Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 40)
            })
    }

    func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// What a command that was cut short has left.
    func unfinished(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix(".keychain-new-") }
    }
}
