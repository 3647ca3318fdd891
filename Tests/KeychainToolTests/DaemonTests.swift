import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// The command with a real `keychaind` of the same user.
@Suite struct DaemonTests {
    /// Runs `body` with the command and a directory for sockets; a daemon that is still there afterwards is killed.
    private func withHome(_ body: (Tool, DaemonProcess) throws -> Void) throws {
        try withTool { tool in
            let daemon = try DaemonOfHome(tool)
            defer { daemon.process.kill() }
            try body(daemon.tool, daemon.process)
        }
    }

    private func add(_ tool: Tool, _ account: String = "a") throws {
        let outcome = try tool.run(
            "add", "generic", "--service", "s", "--account", account, input: Data("secret of \(account)".utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func get(_ tool: Tool, _ account: String = "a") throws -> Tool.Outcome {
        try tool.run("get", "generic", "--service", "s", "--account", account)
    }

    @Test("A keychain goes to the daemon and comes back, with all its items and their references")
    func migrate() throws {
        try withHome { tool, daemon throws in
            try add(tool)
            let before = try tool.run("find", "--json").json as? NSArray
            #expect(try tool.run("migrate", "--to", "user").status == 0)
            // Nobody gets at it while there is no daemon, and the error says what to start.
            let alone = try get(tool)
            #expect(alone.status == 53)
            #expect(alone.errors.contains("systemctl --user start keychaind.socket"))
            try daemon.start()
            #expect(try get(tool).text == "secret of a")
            #expect(try tool.run("find", "--json").json as? NSArray == before)
            let status = try tool.run("status", "--json").object
            #expect(status["host"] as? String == "user")
            #expect((status["daemon"] as? [String: Any])?["processID"] as? Int == Int(daemon.identifier))
            try add(tool, "b")
            #expect(try tool.run("migrate", "--to", "embedded").status == 0)
            #expect(daemon.ending() == 0)
            #expect(try get(tool).text == "secret of a")
            #expect(try get(tool, "b").text == "secret of b")
            #expect(try tool.run("status", "--json").object["host"] as? String == "embedded")
        }
    }

    @Test("A store that belongs to the daemon is not opened by anyone else, whether the daemon runs or not")
    func refusedEmbedded() throws {
        try withHome { tool, daemon throws in
            try add(tool)
            try tool.run("migrate", "--to", "user")
            for isRunning in [false, true] {
                if isRunning { try daemon.start() }
                let outcome = try tool.run("find", "--store", tool.store.path, "--device-key", tool.deviceKey.path)
                #expect(outcome.status == 53)
                #expect(outcome.errors.contains("keychaind"), "\(outcome.errors)")
                let error = #expect(throws: KeychainError.self) { try tool.asApp(["G"], .lockStatus) }
                #expect(error?.code == .notAvailable)
            }
        }
    }

    @Test("A person is told that the daemon is silent, and has the answer when it goes on")
    func stopped() throws {
        try withHome { tool, daemon throws in
            try tool.run("migrate", "--to", "user")
            try daemon.start()
            try add(tool)
            kill(daemon.identifier, SIGSTOP)
            var information = siginfo_t()
            try #require(waitid(P_PID, id_t(daemon.identifier), &information, Int32(WSTOPPED | WNOWAIT)) == 0)
            let (process, output, errors) = (Process(), Pipe(), Pipe())
            process.executableURL = Tool.executable
            process.arguments = ["get", "generic", "--service", "s", "--account", "a"]
            process.environment = tool.environment
            process.standardOutput = output
            process.standardError = errors
            try withoutHeldSignals { try process.run() }
            let word = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
            kill(daemon.identifier, SIGCONT)
            #expect(word == "keychainctl: keychaind has been silent for 3 seconds: waiting up to 30 seconds for it\n")
            #expect(try output.fileHandleForReading.readToEnd() == Data("secret of a".utf8))
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }

    @Test("To hand over twice, either way, is to hand over once")
    func repeated() throws {
        try withHome { tool, daemon throws in
            try add(tool)
            for _ in 0..<2 { #expect(try tool.run("migrate", "--to", "user").status == 0) }
            // Without a daemon it is taken back all the same.
            for _ in 0..<2 { #expect(try tool.run("migrate", "--to", "embedded").status == 0) }
            #expect(try get(tool).text == "secret of a")
            // And a keychain that is not there yet is handed over too.
            try FileManager.default.removeItem(at: tool.store)
            #expect(try tool.run("migrate", "--to", "user").status == 0)
            try daemon.start()
            try add(tool)
            #expect(try get(tool).text == "secret of a")
        }
    }

    @Test("Passcode, lock and unlock are the daemon's, for every command after it")
    func lock() throws {
        try withHome { tool, daemon throws in
            try tool.run("migrate", "--to", "user")
            try daemon.start()
            try add(tool)
            #expect(try tool.run("passcode", "set", input: Data("1234\n1234\n".utf8)).status == 0)
            #expect(try get(tool).status == 0)
            #expect(try tool.run("lock").status == 0)
            #expect(try get(tool).status == 36)
            #expect(try tool.run("unlock", input: Data("wrong\n".utf8)).status == 51)
            #expect(try tool.run("unlock", input: Data("1234\n".utf8)).status == 0)
            #expect(try get(tool).text == "secret of a")
            let lock = try tool.run("status", "--json").object["lock"] as? [String: Any]
            #expect(lock?["keys"] as? String == "daemon")
            // What was unlocked ends with the daemon.
            daemon.kill()
            try daemon.start()
            #expect(try get(tool).status == 36)
            #expect(try tool.run("unlock", input: Data("1234\n".utf8)).status == 0)
            #expect(try get(tool).text == "secret of a")
        }
    }

    @Test("Every other command works with the daemon as it does without")
    func otherCommands() throws {
        try withHome { tool, daemon throws in
            try tool.run("migrate", "--to", "user")
            try daemon.start()
            try add(tool)
            let file = tool.home.appendingPathComponent("export").path
            #expect(try tool.run("export", file, input: Data("phrase\nphrase\n".utf8)).status == 0)
            #expect(try tool.run("update", "generic", "--service", "s", "--set-label", "new").status == 0)
            #expect(try tool.run("delete", "generic", "--service", "s").status == 0)
            #expect(try get(tool).status == 44)
            #expect(try tool.run("import", file, input: Data("phrase\n".utf8)).status == 0)
            #expect(try get(tool).text == "secret of a")
            let doctor = try tool.run("doctor", "--json")
            #expect(doctor.status == 0, "\(doctor.text)")
            #expect(doctor.object["checkedItems"] as? Int == 1)
        }
    }

    @Test("To watch over a keychain whose daemon does not run is an error, as every command is")
    func watchWithoutDaemon() throws {
        try withHome { tool, daemon throws in
            try tool.run("migrate", "--to", "user")
            let watch = try tool.run("watch")
            #expect(watch.status == 53 && !watch.errors.contains("nothing to watch"))
        }
    }

    @Test("Large secrets and many items go through the socket whole")
    func large() throws {
        try withHome { tool, daemon throws in
            try tool.run("migrate", "--to", "user")
            try daemon.start()
            let secret = Data((0..<(20 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            #expect(
                try tool.run("add", "generic", "--service", "large", "--account", "a", input: secret).status == 0)
            #expect(try tool.run("get", "generic", "--service", "large").output == secret)
            let app = daemon.carrier
            for number in 0..<3_000 {
                var request = AddRequest(.genericPassword)
                request.attributes = [.service: .text("many"), .account: .text("\(number)")]
                request.secret = .of("\(number)")
                _ = try app.handle(.add(request), from: Caller(groups: ["G"]))
            }
            #expect(try tool.run("find", "--service", "many", "--json").objects.count == 3_000)
        }
    }

    @Test("A daemon whose places programs take as fast as they are given back is locked all the same")
    func full() throws {
        try withTool { (tool) throws in
            let home = try DaemonOfHome(tool)
            defer { home.process.kill() }
            let tool = home.tool
            try home.process.start()
            #expect(try tool.setPasscode().status == 0)
            #expect(try tool.add("a").status == 0)
            let hog = Process()
            hog.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            hog.arguments = ["-c", Self.hog, home.process.socket]
            let (ready, input) = (Pipe(), Pipe())
            hog.standardOutput = ready
            hog.standardInput = input
            try hog.run()
            defer {
                try? input.fileHandleForWriting.close()
                hog.waitUntilExit()
            }
            var count = 0
            while count < 8, let byte = try ready.fileHandleForReading.read(upToCount: 1), !byte.isEmpty { count += 1 }
            let outcome = try tool.run("lock")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try tool.run("get", "generic").status == 36)
        }
    }

    /// Eight processes, each with all the connections that a process may have, and anew as soon as one is closed.
    private static let hog = """
        import os, select, signal, socket, sys
        def fill():
            open_ones = []
            told = False
            while True:
                while len(open_ones) < 64:
                    one = socket.socket(socket.AF_UNIX)
                    try: one.connect(sys.argv[1])
                    except OSError: break
                    open_ones.append(one)
                if not told and len(open_ones) == 64:
                    os.write(1, b"x")
                    told = True
                for one in select.select(open_ones, [], [], 0.01)[0]:
                    one.close()
                    open_ones.remove(one)
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0: fill()
            children.append(child)
        # Signals are held back in what a test starts, all but one.
        sys.stdin.read()
        for child in children: os.kill(child, signal.SIGKILL)
        """
}

/// A `keychaind` in the home directory of a test.
struct DaemonOfHome {
    let tool: Tool
    let process: DaemonProcess

    init(_ tool: Tool, environment: [String: String] = [:]) throws {
        var tool = tool
        let runtime = tool.home.appendingPathComponent("run")
        try FileManager.default.createDirectory(
            at: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        tool.variables["XDG_RUNTIME_DIR"] = runtime.path
        self.tool = tool
        process = DaemonProcess(
            arguments: [], socket: runtime.appendingPathComponent("keychain/socket").path,
            environment: tool.environment.merging(environment) { $1 })
    }
}
