internal import KeychainModel

/// The lines of standard input, for a tool that asks several times.
final class HelperLines {
    private let console: HelperConsole
    private var buffer = SecretBuffer()

    init(_ console: HelperConsole) { self.console = console }

    /// The next line, without its end. nil: the input has ended. The wait for the tool has no limit.
    func next() throws -> SecretBytes? {
        TimeLimit.pause()
        defer { TimeLimit.start() }
        while true {
            if let line = takeLine() { return line }
            guard try console.fill(buffer) else { break }
        }
        if buffer.count == 0 { return nil }
        defer { buffer = SecretBuffer() }
        return buffer.secret()
    }

    private func takeLine() -> SecretBytes? {
        buffer.withUnsafeBytes { bytes in
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let rest = SecretBuffer()
            rest.append(UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...]))
            let line = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
            buffer = rest
            return line
        }
    }
}
