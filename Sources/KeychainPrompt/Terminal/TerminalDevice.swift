internal import Glibc

/// A terminal that was opened for a question: all reads and writes go through the wait, so neither a terminal that was
/// stopped (^S) nor a person who is gone holds the process up.
final class TerminalDevice {
    let descriptor: Int32

    /// - Throws: the reason, for a person to read.
    init(_ path: String) throws(Unusable) {
        descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Unusable(reason: "there is no terminal: \(path): \(String(cString: strerror(errno)))")
        }
        guard isatty(descriptor) == 1 else { throw Unusable(reason: "\(path) is no terminal") }
        // A process that reads from its terminal in the background is stopped. A terminal that is not this process's
        // own has no such group.
        let group = tcgetpgrp(descriptor)
        guard group < 0 || group == getpgrp() else {
            throw Unusable(reason: "this program runs in the background of its terminal")
        }
    }

    /// The terminal of a descriptor, which stays open.
    init(of other: Int32) throws(Unusable) {
        descriptor = fcntl(other, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Unusable(reason: String(cString: strerror(errno))) }
    }

    struct Unusable: Error {
        let reason: String
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    static func isUsable(_ path: String) -> Bool {
        do throws(Unusable) {
            _ = try TerminalDevice(path)
            return true
        } catch {
            return false
        }
    }

    /// Sends a signal to the programs that the terminal itself would send it to: a shell that runs this one learns of it
    /// in no other way.
    func signal(_ number: Int32) {
        if tcgetpgrp(descriptor) == getpgrp() { kill(0, number) } else { raise(number) }
    }

    func write(_ text: String, _ wait: Wait, until deadline: ContinuousClock.Instant) throws(WaitFailure) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            try wait.for(descriptor, POLLOUT, until: deadline)
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR && errno != EAGAIN {
                throw .system(errno)
            }
        }
    }

    /// - Returns: the next byte; nil: the terminal has come to its end.
    func readByte(_ wait: Wait, until deadline: ContinuousClock.Instant?) throws(WaitFailure) -> UInt8? {
        // The bytes are read singly: those behind the answer are not ours.
        var byte: UInt8 = 0
        defer { explicit_bzero(&byte, 1) }
        while true {
            try wait.for(descriptor, POLLIN, until: deadline)
            let count = read(descriptor, &byte, 1)
            if count == 1 { return byte }
            // EIO: it was hung up.
            if count == 0 || errno == EIO { return nil }
            if errno != EINTR && errno != EAGAIN { throw .system(errno) }
        }
    }
}
