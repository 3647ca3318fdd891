import Foundation

/// What a service manager listens on (sd_notify(3)).
final class NotificationSocket {
    private let descriptor: Int32
    let path: String
    private var pending: [String] = []

    struct Silence: Error {}

    init(in directory: URL) throws {
        path = directory.appendingPathComponent("notify").path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    /// The next line that is told; nil if there is none for a while.
    private func next(_ seconds: Double) -> String? {
        if pending.isEmpty {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(seconds * 1000)) > 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            pending = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).components(separatedBy: "\n")
        }
        return pending.removeFirst()
    }

    /// Waits for a line that begins like this.
    @discardableResult
    func wait(for start: String) throws -> String {
        while let line = next(60) {
            if line.hasPrefix(start) { return line }
        }
        throw Silence()
    }

    /// Whether such a line comes within a time.
    func hears(_ start: String, within seconds: Double) -> Bool {
        while let line = next(seconds) {
            if line.hasPrefix(start) { return true }
        }
        return false
    }
}
