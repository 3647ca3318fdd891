import Foundation
import Testing

/// From the signal on the bus to the key that is gone.
@Suite(.enabled(if: Tool.sharesKeys)) struct WatchedKeychainTests {
    /// Runs `body` with an unlocked keychain that has a passcode and an item, and a watcher of it.
    private func withWatchedKeychain(_ body: (Tool, TestLogind, RunningWatch) throws -> Void) throws {
        try withTool { (tool) throws in
            try withLogind { logind in
                try logind.order("session c1 \(geteuid())")
                try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
                defer { tool.dropKeys() }
                let set = try tool.setPasscode()
                try #require(set.status == 0, "\(set.errors)")
                try #require(try tool.run("get", "generic").text == "secret")
                let watch = try RunningWatch(tool, bus: logind.bus)
                try watch.errors.skip(to: "watching")
                try body(tool, logind, watch)
                _ = try watch.end(with: SIGTERM)
            }
        }
    }

    @Test("Locking the session takes the keys from every process", arguments: ["lock c1", "screen c1 true"])
    func session(order: String) throws {
        try withWatchedKeychain { tool, logind, watch in
            #expect(try tool.run("get", "generic").text == "secret")
            try logind.order(order)
            try watch.errors.skip(to: "the keychain is locked")
            #expect(try tool.run("get", "generic").status == 36)
        }
    }

    @Test("A system that sleeps has no keys", arguments: ["sleep", "shutdown"])
    func sleep(kind: String) throws {
        try withWatchedKeychain { tool, logind, _ in
            try logind.order("\(kind) true")
            #expect(try logind.order("inhibitors 0") == "0")
            #expect(try tool.run("get", "generic").status == 36)
        }
    }

    @Test("After the watcher's end the keychain is locked", arguments: [SIGTERM, SIGINT, SIGHUP])
    func end(signal: Int32) throws {
        try withWatchedKeychain { (tool, _, watch) throws in
            #expect(try watch.end(with: signal) == 0)
            #expect(try tool.run("get", "generic").status == 36)
        }
    }

    @Test("The passcode opens again what the session's lock closed, while the watcher goes on")
    func again() throws {
        try withWatchedKeychain { tool, logind, watch in
            for _ in 1...2 {
                try logind.order("lock c1")
                try watch.errors.skip(to: "the keychain is locked")
                #expect(try tool.run("get", "generic").status == 36)
                #expect(try tool.run("unlock", input: Tool.lines(Tool.passcode)).status == 0)
                #expect(try tool.run("get", "generic").text == "secret")
            }
        }
    }
}
