import Foundation
import Glibc
import KeychainTestSupport

/// Another process that asks: the executable KeychainTestHelper, in a session of its own.
final class PromptAgent {
    let pid: pid_t
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameters:
    ///   - launcher: Words of a command that runs the words after it.
    ///   - terminal: Becomes its controlling terminal.
    init(
        _ words: String..., through launcher: [String] = [], at terminal: PseudoTerminal? = nil,
        environment: [String: String] = [:]
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        // The first terminal that the first process of a session opens is its own.
        if let terminal { posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, terminal.path, O_RDWR, 0) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads that run tests hold every signal back, and a process inherits that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(0x80))  // POSIX_SPAWN_SETSID
        let command = ["/usr/bin/env"] + launcher + [HelperProcess.executable.path, "prompt"] + words
        var variables = ["PATH": "/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"].merging(environment) { $1 }
        // Swift takes SIGQUIT for them otherwise.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        var arguments = command.map { strdup($0) } + [nil]
        var strings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + strings { free(text) } }
        var pid: pid_t = 0
        let failure = posix_spawn(&pid, command[0], &actions, &attributes, &arguments, &strings)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        self.pid = pid
        try output.fileHandleForWriting.close()
    }

    /// One line of what it prints; empty at its end.
    func readLine() throws -> String {
        var line = Data()
        while true {
            var waiting = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 60_000) == 1 else { throw TookTooLong() }
            guard let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n")
            else { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    func say(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Tells it to end, and waits for that.
    func finish() throws -> Int32 {
        try say("exit")
        return try end()
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit status, or the negative number of the signal that ended it.
    func end() throws -> Int32 {
        // Its end closes what it prints to, and until then it may not be waited for without a limit.
        while try !readLine().isEmpty {}
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }

    /// What it prints of an answer.
    static func line(_ answer: String) -> String {
        "answer \(answer.utf8.reduce(5381 as UInt32) { $0 &* 33 &+ UInt32($1) })"
    }

    /// Whether these bytes are anywhere in memory that it can write.
    func memoryContains(_ needle: String) throws -> Bool {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(pid)/maps"))
        let memory = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }
        defer { close(memory) }
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields[1].hasPrefix("rw"), ends.count == 2 else { continue }
            var bytes = Data(count: Int(ends[1] - ends[0]))
            let count = bytes.withUnsafeMutableBytes { pread(memory, $0.baseAddress, $0.count, off_t(ends[0])) }
            if count > 0, bytes.range(of: Data(needle.utf8)) != nil { return true }
        }
        return false
    }
}
