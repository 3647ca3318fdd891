import Foundation
import KeychainModel
import KeychainTestSupport

/// The real `keychaind`, run as a process on directories of its own.
final class DaemonCommand {
    static let executable = BuiltProducts.url(of: "keychaind").path

    let pid: pid_t
    private let log: URL
    private let status = Observed<Int32?>(nil)

    struct TookTooLong: Error {}

    /// Starts it, by itself or as the last words of another command.
    init(
        _ words: [String] = ["--user"], through launcher: [String] = [], in home: URL,
        environment: [String: String] = [:]
    ) throws {
        log = home.appendingPathComponent("log-\(UUID().uuidString)")
        try Data().write(to: log)
        pid = try Self.spawn(
            ["/usr/bin/env"] + launcher + [Self.executable] + words, log: log.path,
            Self.environment(home).merging(environment) { $1 }.map { "\($0.key)=\($0.value)" })
    }

    deinit { if isRunning { signal(SIGKILL) } }

    /// Not by Foundation's `Process`: it notices the end of one that another one was started beside only after both.
    private static func spawn(_ words: [String], log: String, _ environment: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_APPEND, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A thread of the tests may hold signals back, which the process would inherit.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let failure = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &variables)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        return pid
    }

    var isRunning: Bool {
        var result: Int32 = 0
        if status.value == nil, waitpid(pid, &result, WNOHANG) == pid { status.update { $0 = result } }
        return status.value == nil
    }

    static func environment(_ home: URL) -> [String: String] {
        [
            "HOME": home.path, "XDG_RUNTIME_DIR": home.path, "XDG_DATA_HOME": home.appendingPathComponent("data").path,
            "XDG_STATE_HOME": home.appendingPathComponent("state").path, "PATH": "/usr/bin:/bin",
        ]
    }

    static func socket(in home: URL) -> String { home.appendingPathComponent("keychain/socket").path }

    /// What it said.
    var said: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// A client of it, once it serves.
    func connect(_ path: String, authority: Caller.Authority = .groups) throws -> TestClient {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let client = try? TestClient(path, groups: ["G"], authority: authority) { return client }
            guard isRunning else { break }
            usleep(5_000)
        }
        throw TookTooLong()
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Whether SIGSTOP has reached it (proc_pid_stat(5)).
    var isStopped: Bool {
        get throws {
            // The state follows the name, which may have parentheses of its own.
            try kernelFile("stat").split(separator: ")").last?.first { $0 != " " } == "T"
        }
    }

    /// - Returns: its exit status, or the negative number of the signal that ended it.
    func end() throws -> Int32 {
        let end = ContinuousClock.now + .seconds(60)
        while isRunning {
            guard ContinuousClock.now < end else { throw TookTooLong() }
            usleep(2_000)
        }
        let result = status.value ?? 0
        // As wait(2) packs them.
        return result & 0x7f == 0 ? result >> 8 & 0xff : -(result & 0x7f)
    }

    /// A file of the kernel's about it.
    func kernelFile(_ name: String) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(pid)/\(name)"))
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
}
