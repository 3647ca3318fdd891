import Foundation
import KeychainTestSupport
import Testing

/// From the signal on the bus to the daemon's keys that are gone.
@Suite struct WatchedDaemonTests {
    /// Runs `body` with an unlocked keychain in a daemon that watches the sessions.
    private func withWatchedDaemon(_ body: (Tool, TestLogind) throws -> Void) throws {
        try withTool { (tool) throws in
            try withLogind { logind in
                try logind.order("session c1 \(geteuid())")
                var variables = logind.bus.asSystemBus
                // Another bus, which any program of the user can name. It is not looked at.
                variables["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent"
                let daemon = try DaemonOfHome(tool, environment: variables)
                defer { daemon.process.kill() }
                try daemon.process.start()
                try daemon.tool.run(
                    "add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
                let set = try daemon.tool.setPasscode()
                try #require(set.status == 0, "\(set.errors)")
                try awaitWatched(daemon.tool, true)
                #expect(try daemon.tool.run("get", "generic").text == "secret")
                try body(daemon.tool, logind)
                #expect(daemon.process.stop() == 0)
            }
        }
    }

    private func awaitWatched(_ tool: Tool, _ isWatched: Bool) throws {
        for _ in 0..<1000 {
            let lock = try tool.run("status", "--json").object["lock"] as? [String: Any]
            if lock?["watched"] as? Bool == isWatched { return }
            usleep(10_000)
        }
        throw TookTooLong(waitingFor: "the watcher")
    }

    private func awaitLocked(_ tool: Tool) throws {
        for _ in 0..<1000 {
            if try tool.run("get", "generic").status == 36 { return }
            usleep(10_000)
        }
        throw TookTooLong(waitingFor: "the lock")
    }

    @Test("The session's lock locks the daemon's keychain, and the passcode opens it again")
    func session() throws {
        try withWatchedDaemon { tool, logind throws in
            let watch = try tool.run("watch")
            #expect(watch.status == 0 && watch.errors.contains("nothing to watch"))
            for _ in 1...2 {
                try logind.order("lock c1")
                try awaitLocked(tool)
                #expect(try tool.run("unlock", input: Tool.lines(Tool.passcode)).status == 0)
                #expect(try tool.run("get", "generic").text == "secret")
            }
        }
    }

    @Test("A system that sleeps has no keys", arguments: ["sleep", "shutdown"])
    func sleep(kind: String) throws {
        try withWatchedDaemon { tool, logind throws in
            #expect(try logind.order("inhibitors") == "1")
            try logind.order("\(kind) true")
            #expect(try logind.order("inhibitors 0") == "0")
            #expect(try tool.run("get", "generic").status == 36)
        }
    }

    @Test("The end of the last session locks, and the daemon goes on with the next one")
    func lastSession() throws {
        try withWatchedDaemon { tool, logind throws in
            try logind.order("remove c1")
            try awaitLocked(tool)
            try logind.order("session c2 \(geteuid())")
            #expect(try tool.run("unlock", input: Tool.lines(Tool.passcode)).status == 0)
            #expect(try tool.run("get", "generic").text == "secret")
            try logind.order("lock c2")
            try awaitLocked(tool)
        }
    }

    @Test("A logind that is lost locks the keychain, which is not called watched any more")
    func lost() throws {
        try withWatchedDaemon { tool, logind throws in
            logind.stop()
            try awaitLocked(tool)
            try awaitWatched(tool, false)
            let unlock = try TerminalSession(tool, "unlock")
            try unlock.answer("Passcode: ", Tool.passcode)
            #expect(try unlock.end() == 0)
            // Nobody is told that the daemon locks with the session, nor sent to 'watch' for it.
            let watch = try tool.run("watch")
            #expect(watch.status == 53)
            let status = try [tool.run("status").text, tool.run("status", "--verbose").text]
            for text in status + [unlock.transcript, watch.errors] {
                let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(words.contains("no systemd-logind") && !words.contains("'keychainctl watch'"), "\(words)")
            }
            #expect(try tool.run("get", "generic").text == "secret")
        }
    }
}
