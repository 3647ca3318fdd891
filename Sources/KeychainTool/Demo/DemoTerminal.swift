internal import FoundationEssentials
internal import Glibc
internal import KeychainRun
internal import KeychainSystem

/// A home directory that is thrown away, and a terminal for each command line that runs in it.
struct DemoTerminal {
    /// A line that takes longer is stopped.
    private static let limit = Duration.seconds(120)

    let home: URL
    let shouldStop: () -> Bool

    /// Runs a command line, and types an answer at each of its questions.
    ///
    /// - Returns: the exit status, the lines of the output, and the number of answers that were not asked for.
    func run(_ line: String, _ answers: [String]) throws -> (status: Int32, output: [String], left: Int) {
        let terminal = OpenDescriptor(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
        var number: Int32 = 0
        var size = winsize(ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
        // Glibc's functions for this are hidden from Swift. The kernel's requests are TIOCSPTLCK and TIOCGPTN.
        guard ioctl(terminal.number, 0x4004_5431, &number) == 0, ioctl(terminal.number, 0x8004_5430, &number) == 0,
            ioctl(terminal.number, UInt(TIOCSWINSZ), &size) == 0
        else { throw SystemError("make a terminal", errno) }
        let nothing = OpenDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC))
        // The shell leads a session of its own, so the first terminal that it opens becomes the session's.
        let shell = try SpawnedProgram(
            "/bin/sh", ["-c", "exec <>/dev/pts/\(number) >&0 2>&0; cd; \(line)"], variables: variables,
            descriptors: (nothing.number, nothing.number, nothing.number), isApart: true)
        var (bytes, answers) = ([UInt8](), answers[...])
        let end = ContinuousClock.now + Self.limit
        while let new = Self.read(terminal, shell) {
            bytes += new
            if !new.isEmpty, bytes.suffix(2).elementsEqual(": ".utf8), let answer = answers.popFirst() {
                _ = Array("\(answer)\n".utf8).withUnsafeBytes { $0.write(to: terminal.number) }
            }
            guard !shouldStop(), ContinuousClock.now < end else {
                shell.terminate()
                break
            }
        }
        return (shell.awaitEnd(), Self.lines(bytes), answers.count)
    }

    /// - Returns: nil if no program has the terminal any more; empty if nothing was written for a while.
    private static func read(_ terminal: OpenDescriptor, _ shell: SpawnedProgram) -> [UInt8]? {
        var waiting = pollfd(fd: terminal.number, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 200) > 0 else { return shell.hasEnded(within: 0) ? nil : [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { room, count in
            count = max(0, Glibc.read(terminal.number, room.baseAddress, room.count))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// The lines as they stand on the terminal: a later text covers an earlier one.
    private static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.split(separator: UInt8(ascii: "\r")).last ?? [], as: UTF8.self)
        }
    }

    /// The variables name no other keychain.
    private var variables: [String: String] {
        let own = ProcessInfo.processInfo.environment
        let ours = [
            "PATH": home.appendingPathComponent("bin").path + ":" + (own["PATH"] ?? "/usr/bin:/bin"), "HOME": home.path,
            "KEYCHAIN_HOST": "embedded", "KEYCHAIN_PROMPT": "terminal", "LANG": "C.UTF-8", "TERM": "xterm",
            "NO_COLOR": "1",
        ]
        return ours.merging(own.filter { ["TZ", "TMPDIR"].contains($0.key) }) { ours, _ in ours }
    }
}
