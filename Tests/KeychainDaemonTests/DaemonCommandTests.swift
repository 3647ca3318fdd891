import Foundation
import KeychainDaemon
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import KeychainWire
import Testing

@Suite struct DaemonCommandTests {
    private static let item = Request.add(secret: .of("secret"))

    @Test("It serves a store over its socket until it is asked to end", arguments: [SIGTERM, SIGINT, SIGHUP])
    func signal(number: Int32) throws {
        try withTemporaryDirectory { (home) throws in
            let socket = DaemonCommand.socket(in: home)
            let daemon = try DaemonCommand(in: home)
            let client = try daemon.connect(socket)
            guard case .added(let item) = try client.ask(Self.item) else {
                Issue.record("another answer")
                return
            }
            #expect(item.accessGroup == "G")
            daemon.signal(number)
            #expect(try client.goodbye() == DaemonGoodbye(.shuttingDown, "keychaind ends", lastRequest: 1))
            #expect(try daemon.end() == 0)
            #expect(!FileManager.default.fileExists(atPath: socket))
        }
    }

    @Test("After a kill -9 the next one takes the socket's place, and what was acknowledged is there")
    func killed() throws {
        try withTemporaryDirectory { (home) throws in
            let socket = DaemonCommand.socket(in: home)
            let first = try DaemonCommand(in: home)
            try first.connect(socket).ask(Self.item)
            first.signal(SIGKILL)
            #expect(try first.end() == -SIGKILL)
            #expect(FileManager.default.fileExists(atPath: socket))
            let second = try DaemonCommand(in: home)
            guard case .found(let items) = try second.connect(socket).ask(.find) else {
                Issue.record("another answer")
                return
            }
            #expect(items.first?.secret?.copyData() == Data("secret".utf8))
            second.signal(SIGTERM)
            #expect(try second.end() == 0)
        }
    }

    @Test("A store of a future version is refused with 53, and with the path of the keychaind that is too old")
    func futureStore() throws {
        try withTemporaryDirectory { (home) throws in
            let first = try DaemonCommand(in: home)
            let client = try first.connect(DaemonCommand.socket(in: home))
            try client.ask(Self.item)
            let database = try #require(
                FileManager.default.subpathsOfDirectory(atPath: home.path).first { $0.hasSuffix("/keychain.db") })
            let program = URL(fileURLWithPath: DaemonCommand.executable).resolvingSymlinksInPath().path
            try TestDatabase(home.appendingPathComponent(database)).run("PRAGMA user_version = 3")
            let error = #expect(throws: KeychainError.self) { try client.ask(.add(secret: .of("more"))) }
            #expect(error?.message.contains("\(program) has release") == true, "\(error?.message ?? "")")
            for request in [Request.status, .check] {
                #expect(throws: KeychainError.self) { try client.ask(request) }
            }
            first.signal(SIGTERM)
            #expect(try first.end() == 0)
            let second = try DaemonCommand(in: home)
            #expect(try second.end() == 53)
            #expect(second.said.contains("has version 3, and this program knows versions up to 2"))
            #expect(second.said.contains("\(program) has release"), "\(second.said)")
        }
    }

    @Test("A second one is refused with 53: at the same socket, and at another one with the same store")
    func second() throws {
        try withTemporaryDirectory { (home) throws in
            let first = try DaemonCommand(in: home)
            let client = try first.connect(DaemonCommand.socket(in: home))
            let sameSocket = try DaemonCommand(in: home)
            #expect(try sameSocket.end() == 53)
            #expect(sameSocket.said.contains("another keychaind serves"))
            let sameStore = try DaemonCommand(
                ["--user", "--socket", home.appendingPathComponent("other").path], in: home)
            #expect(try sameStore.end() == 53)
            try client.ask(.lockStatus)
            first.signal(SIGTERM)
            #expect(try first.end() == 0)
        }
    }

    @Test("Without a service manager a store that cannot be opened is its failure")
    func noStore() throws {
        try withTemporaryDirectory { (home) throws in
            try Data("no directory".utf8).write(to: home.appendingPathComponent("data"))
            let daemon = try DaemonCommand(in: home)
            #expect(try daemon.end() != 0)
            #expect(daemon.said.contains("critical: ") && !daemon.said.contains("error: "))
            #expect(!FileManager.default.fileExists(atPath: DaemonCommand.socket(in: home)))
        }
    }

    @Test(
        "Mistakes on the command line end with 64",
        arguments: [
            [], ["--user", "--system"], ["--system", "--store", "elsewhere"], ["--user", "--state", "elsewhere"],
            ["--user", "--manifests", "elsewhere"], ["--user", "--idle", "10m"], ["--user", "--idle", "soon"],
            ["--user", "--log-level", "loud"], ["--user", "more"],
        ])
    func usage(words: [String]) throws {
        try withTemporaryDirectory { (home) throws in
            #expect(try DaemonCommand(words, in: home).end() == 64)
        }
    }

    @Test("Root serves no system", .enabled(if: geteuid() == 0))
    func systemOfRoot() throws {
        try withTemporaryDirectory { (home) throws in
            #expect(try DaemonCommand(["--system", "--state", home.path], in: home).end() == 64)
        }
    }

    @Test("A signal locks it, for those who have no place to ask, and ends nothing")
    func lockBySignal() throws {
        try withTemporaryDirectory { (home) throws in
            let daemon = try DaemonCommand(in: home)
            let client = try daemon.connect(DaemonCommand.socket(in: home), authority: .owner)
            func state() throws -> LockState? {
                guard case .lockStatus(let status) = try client.ask(.lockStatus) else { return nil }
                return status.state
            }
            try client.ask(.passcode(.set(.of("1234"))))
            #expect(try state() == .unlocked)
            daemon.signal(SIGUSR1)
            for _ in 0..<5_000 where try state() == .unlocked { usleep(2_000) }
            #expect(try state() == .locked)
            try client.ask(.unlock(.of("1234")))
            #expect(try state() == .unlocked)
            daemon.signal(SIGTERM)
            #expect(try daemon.end() == 0)
        }
    }

    // MARK: The process

    @Test("It leaves no core file, and makes its files for its user alone")
    func hardening() throws {
        try withTemporaryDirectory { (home) throws in
            let daemon = try DaemonCommand(in: home)
            _ = try daemon.connect(DaemonCommand.socket(in: home))
            let limits = try daemon.kernelFile("limits").components(separatedBy: "\n")
            let core = try #require(limits.first { $0.hasPrefix("Max core file size") })
            #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            #expect(try daemon.kernelFile("status").contains("Umask:\t0077"))
            daemon.signal(SIGTERM)
            #expect(try daemon.end() == 0)
        }
    }

    @Test(
        "Descriptors that it is started without lead to nothing, and to no file of its own",
        .enabled(if: geteuid() == 0, "only root sees the descriptors of a daemon"))
    func closedDescriptors() throws {
        try withTemporaryDirectory { (home) throws in
            let daemon = try DaemonCommand(
                through: ["sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"], in: home)
            try daemon.connect(DaemonCommand.socket(in: home)).ask(Self.item)
            for number in 0...2 {
                let place = "/proc/\(daemon.pid)/fd/\(number)"
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "/dev/null")
            }
            daemon.signal(SIGTERM)
            #expect(try daemon.end() == 0)
        }
    }

    /// Denies PR_SET_DUMPABLE to a program, as a sandbox may (seccomp(2)), and starts it.
    private static let sandbox = """
        import ctypes, os, platform, struct, sys
        number = {"x86_64": 157, "aarch64": 167}[platform.machine()]
        steps = [(0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 0, 1, 4), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
        program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
        os.execv(sys.argv[1], sys.argv[1:])
        """

    @Test("It does not serve if its memory cannot be hidden")
    func notHidden() throws {
        try withTemporaryDirectory { (home) throws in
            let daemon = try DaemonCommand(through: ["python3", "-c", Self.sandbox], in: home)
            #expect(try daemon.end() == 53)
            #expect(daemon.said.contains("this process cannot be hidden"), "\(daemon.said)")
        }
    }

    @Test("It writes for the journal only if the journal is at the other end of standard error")
    func journal() {
        var information = stat()
        #expect(fstat(STDERR_FILENO, &information) == 0)
        func style(_ stream: String?) -> JournalLogHandler.Style {
            .ofStandardError(Environment(variables: stream.map { ["JOURNAL_STREAM": $0] } ?? [:]))
        }
        #expect(style("\(information.st_dev):\(information.st_ino)") == .journal)
        #expect(style("\(information.st_dev):\(information.st_ino + 1)") == .person)
        #expect(style(nil) == .person)
    }

    @Test("Another process of its user cannot look into it", .enabled(if: geteuid() == 0))
    func hidden() throws {
        try withTemporaryDirectory { (home) throws in
            chown(home.path, 65534, 65534)
            let asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            let daemon = try DaemonCommand(through: asNobody, in: home)
            while !daemon.said.contains("the store is open"), daemon.isRunning { usleep(5_000) }
            // Files about a process that can be looked into belong to its user.
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(daemon.pid)/environ")[.ownerAccountID]
            #expect((owner as? NSNumber)?.intValue == 0, "\(daemon.said)")
            daemon.signal(SIGTERM)
            #expect(try daemon.end() == 0)
        }
    }

    // MARK: The service manager

    @Test("A service manager hears when it is ready, how it is, and when it ends")
    func notifications() throws {
        try withTemporaryDirectory { (home) throws in
            let manager = try NotificationSocket(in: home)
            let daemon = try DaemonCommand(
                in: home, environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000"])
            try manager.wait(for: "STATUS=Serving")
            try manager.wait(for: "READY=1")
            _ = try TestClient(DaemonCommand.socket(in: home), groups: ["G"])
            for _ in 0..<3 { try manager.wait(for: "WATCHDOG=1") }
            daemon.signal(SIGTERM)
            try manager.wait(for: "STOPPING=1")
            #expect(try daemon.end() == 0)
        }
    }

    @Test("A daemon that hangs tells its watchdog nothing")
    func watchdog() throws {
        try withTemporaryDirectory { (home) throws in
            let manager = try NotificationSocket(in: home)
            let daemon = try DaemonCommand(
                in: home, environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000"])
            try manager.wait(for: "WATCHDOG=1")
            daemon.signal(SIGSTOP)
            while try !daemon.isStopped { usleep(1_000) }
            while manager.hears("WATCHDOG=1", within: 0) {}
            #expect(!manager.hears("WATCHDOG=1", within: 0.3))
            daemon.signal(SIGCONT)
            try manager.wait(for: "WATCHDOG=1")
            daemon.signal(SIGTERM)
            try manager.wait(for: "STOPPING=1")
            #expect(try daemon.end() == 0)
        }
    }

    @Test("A watchdog of another process is not its own")
    func otherWatchdog() throws {
        try withTemporaryDirectory { (home) throws in
            let manager = try NotificationSocket(in: home)
            let daemon = try DaemonCommand(
                in: home,
                environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "10000", "WATCHDOG_PID": "1"])
            try manager.wait(for: "READY=1")
            #expect(!manager.hears("WATCHDOG=1", within: 0.2))
            daemon.signal(SIGTERM)
            #expect(try daemon.end() == 0)
        }
    }

    // MARK: Socket activation

    /// Starts it as systemd does, with the first connection.
    private func activated(_ words: [String] = [], in home: URL) throws -> (DaemonCommand, socket: String) {
        let socket = home.appendingPathComponent("activated").path
        let names = DaemonCommand.environment(home).map { ["-E", "\($0.key)=\($0.value)"] }.flatMap(\.self)
        let daemon = try DaemonCommand(
            ["--user"] + words, through: ["systemd-socket-activate", "-l", socket] + names, in: home)
        while try !isListenedAt(socket), daemon.isRunning { usleep(2_000) }
        return (daemon, socket)
    }

    /// Connecting would tell, too, and start the daemon. In unix(7)'s table the flags of a socket that listens are 10000: its
    /// file is there a moment before.
    private func isListenedAt(_ socket: String) throws -> Bool {
        try String(contentsOfFile: "/proc/net/unix", encoding: .utf8).split(separator: "\n").contains { line in
            line.hasSuffix(" \(socket)") && line.split(separator: " ").dropFirst(3).first == "00010000"
        }
    }

    @Test("systemd's socket is served from the first connection on, and stays")
    func activation() throws {
        try withTemporaryDirectory { (home) throws in
            let (daemon, socket) = try activated(in: home)
            // This one starts it, and what it sends waits.
            let client = try TestClient(socket, groups: ["G"])
            try client.ask(Self.item)
            let other = try daemon.connect(socket)
            try other.ask(.find)
            daemon.signal(SIGTERM)
            #expect(try client.goodbye().reason == .shuttingDown)
            #expect(try daemon.end() == 0)
            #expect(FileManager.default.fileExists(atPath: socket))
            #expect(!FileManager.default.fileExists(atPath: DaemonCommand.socket(in: home)))
        }
    }

    @Test("With activation, clients hear why there is no store, and later that there is one")
    func activatedWithoutStore() throws {
        try withTemporaryDirectory { (home) throws in
            let data = home.appendingPathComponent("data")
            try Data("no directory".utf8).write(to: data)
            let (daemon, socket) = try activated(in: home)
            let client = try TestClient(socket)
            try client.send(.hello(ClientHello(groups: ["G"], authority: .groups)))
            let goodbye = try client.goodbye()
            #expect(goodbye.reason == .noStore)
            #expect(goodbye.message.contains(data.path))
            daemon.signal(SIGUSR1)
            for _ in 0..<5_000 where !daemon.said.contains("no store is open") { usleep(2_000) }
            #expect(daemon.said.contains("no store is open"))
            #expect(!daemon.said.contains("a signal locked"))
            try FileManager.default.removeItem(at: data)
            try daemon.connect(socket).ask(Self.item)
            daemon.signal(SIGTERM)
            #expect(try daemon.end() == 0)
        }
    }

    @Test(
        "With activation it can end by itself when nobody uses it, but not with keys that only a passcode brings back")
    func idle() throws {
        try withTemporaryDirectory { (home) throws in
            let (daemon, socket) = try activated(["--idle", "1s"], in: home)
            try TestClient(socket, groups: ["G"]).ask(Self.item)
            #expect(try daemon.end() == 0)
        }
    }
}
