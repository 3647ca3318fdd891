internal import Glibc
internal import KeychainModel

/// A question at a terminal that is silent.
struct TerminalDialog {
    private let device: TerminalDevice
    private let wait: Wait
    private let limits: PromptConfiguration.Limits
    private let deadline: ContinuousClock.Instant

    init(_ device: TerminalDevice, _ wait: Wait, _ limits: PromptConfiguration.Limits) {
        (self.device, self.wait, self.limits) = (device, wait, limits)
        deadline = .now + limits.answer
    }

    func write(_ text: String) throws(PromptFailure) {
        do throws(WaitFailure) { try device.write(text, wait, until: deadline) } catch {
            throw PromptFailure(error)
        }
    }

    /// Reads a line; what ends it shows as the end of a line.
    ///
    /// - Throws: `.declined`, also when the terminal is hung up.
    func readSecret(_ field: String, _ complaint: String?) throws(PromptFailure) -> SecretBytes {
        try write((complaint.map { $0 + "\n" } ?? "") + field + " ")
        var line = TerminalLine(capacity: limits.secretByteCount)
        var key: TerminalLine.Key?
        repeat {
            key = try reading { () throws(WaitFailure) in try line.read(from: device, wait, until: deadline) }
            // Nothing of the terminal would be shown while the program is stopped.
        } while key == .signal(SIGTSTP)
        guard let key else { throw .declined }
        try write("\n")
        guard key == .enter else { throw .declined }
        if line.isTooLong { throw .failed("the answer has more than \(limits.secretByteCount) bytes") }
        return line.buffer.secret()
    }

    /// Returns if the person chooses the fallback.
    func awaitChoice(hasFallback: Bool) throws(PromptFailure) {
        while let byte = try reading({ () throws(WaitFailure) in try device.readByte(wait, until: deadline) }) {
            switch byte {
            case 0x0a where hasFallback, 0x0d where hasFallback: return try write("\n")
            case 0x03, 0x04, 0x1c, UInt8(ascii: "q"), UInt8(ascii: "Q"):
                try write("\n")
                throw .declined
            default: continue
            }
        }
        throw .declined
    }

    private func reading<R>(_ body: () throws(WaitFailure) -> R) throws(PromptFailure) -> R {
        do throws(WaitFailure) { return try body() } catch {
            // The cursor does not stay behind the question. A failure of this write is not worth another error.
            _ = Glibc.write(device.descriptor, "\n", 1)
            throw PromptFailure(error)
        }
    }
}

extension PromptFailure {
    init(_ failure: WaitFailure) {
        switch failure {
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .system(let code): self = .failed("cannot ask at the terminal: \(String(cString: strerror(code)))")
        }
    }
}
