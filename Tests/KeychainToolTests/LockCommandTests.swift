import Foundation
import KeychainModel
import Testing

@Suite(.serialized, .enabled(if: Tool.sharesKeys)) struct LockCommandTests {
    /// A locked keychain with an item of each accessibility, whose accounts bear their names.
    private func withLocked(_ options: String..., body: (Tool) throws -> Void) throws {
        try withPasscode { (tool) throws in
            for name in ["when-unlocked", "after-first-unlock", "always", "when-passcode-set"] {
                #expect(try tool.add(name, accessible: name).status == 0)
            }
            #expect(try tool.shell("$K lock \(options.joined(separator: " "))").status == 0)
            try body(tool)
        }
    }

    @Test("status tells the state of the lock, as JSON and in words, before and after each command")
    func states() throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            try tool.add("a")
            #expect(try tool.lockStatus["passcode"] as? Bool == false)
            #expect(try tool.lockStatus["state"] as? String == "unlocked")
            #expect(try tool.run("status").text.contains("never locked"))

            try tool.setPasscode()
            let lock = try tool.lockStatus
            #expect(lock["state"] as? String == "unlocked")
            #expect(lock["passcode"] as? Bool == true)
            #expect(lock["keys"] as? String == "keyring")
            #expect(lock["watched"] as? Bool == false)
            #expect(lock["idleLimit"] is NSNull)
            #expect(lock["eraseAfterTen"] as? Bool == false)
            #expect(lock["failedAttempts"] as? Int == 0)
            #expect(lock["secondsUntilNextAttempt"] as? Int == 0)
            #expect(lock["rekeying"] as? Bool == false)
            #expect(try tool.run("status").text.contains("keychainctl watch"))

            try tool.run("lock")
            #expect(try tool.lockStatus["state"] as? String == "locked")
            let text = try tool.run("status")
            #expect(text.status == 0)
            #expect(text.text.contains("locked: what is accessible"))

            try tool.unlock()
            #expect(try tool.lockStatus["state"] as? String == "unlocked")
        }
    }

    @Test("Locking and unlocking say nothing, and doing either twice is no failure")
    func quiet() throws {
        try withPasscode { (tool) throws in
            for command in ["lock", "lock", "lock --now", "unlock", "unlock"] {
                let outcome = try tool.shell("printf '%s\\n' '\(Tool.passcode)' | $K \(command)")
                #expect(outcome.status == 0, "\(command)")
                #expect(outcome.text.isEmpty)
                #expect(outcome.errors.isEmpty)
            }
        }
    }

    @Test("A stranger who holds the database keeps no lock waiting", arguments: ["lock", "lock --now"])
    func heldDatabase(command: String) throws {
        try withTool { (tool) throws in
            try tool.setPasscode()
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            let holder = Process()
            holder.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            // The whole file, as SQLite's own locks are taken.
            holder.arguments = [
                "-c",
                """
                import fcntl, sys, time
                file = open(sys.argv[1], "r+b"); fcntl.lockf(file, fcntl.LOCK_EX); print("held", flush=True)
                sys.stdin.read()
                """, tool.database.path,
            ]
            let (output, input) = (Pipe(), Pipe())
            (holder.standardOutput, holder.standardInput) = (output, input)
            try holder.run()
            defer { holder.kill(with: SIGKILL) }
            #expect(try LineReader(output.fileHandleForReading).next() == "held")
            let lock = Process()
            lock.executableURL = Tool.executable
            lock.arguments = command.split(separator: " ").map { String($0) }
            lock.environment = tool.environment
            lock.standardError = FileHandle.nullDevice
            try lock.run()
            // While the command still waits, or has given up.
            try eventually { try tool.lockRecordIsLocked }
            holder.kill(with: SIGKILL)
            holder.waitUntilExit()
            _ = try lock.finish()
            #expect(try tool.run("get", "generic").status == 36)
        }
    }

    @Test(
        "A store that does not open is locked all the same",
        arguments: [
            "rm -f attempts && mkdir attempts", "cp keybag kept && echo >keybag", "echo nonsense >host",
            "cp keychain.db kept && echo nonsense >keychain.db",
        ], ["lock", "lock --now"])
    func unopened(damage: String, command: String) throws {
        try withTool { (tool) throws in
            try tool.setPasscode()
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            #expect(try tool.run("get", "generic").text == "secret")
            // With its log emptied, so that nothing is missing of what is kept.
            let whole = tool.home.appendingPathComponent("whole")
            try FileManager.default.copyItem(at: tool.store, to: whole)
            #expect(try tool.shell("cd '\(tool.store.path)' && \(damage)").status == 0)
            let outcome = try tool.shell("$K \(command)")
            #expect(outcome.status == 0 || outcome.errors.contains("the keys were taken away"), "\(outcome.errors)")
            // What was damaged is put back, and nothing else.
            for name in ["attempts", "keybag", "host", "keychain.db"] {
                let file = tool.store.appendingPathComponent(name)
                try? FileManager.default.removeItem(at: file)
                let copy = whole.appendingPathComponent(name)
                if FileManager.default.fileExists(atPath: copy.path) {
                    try FileManager.default.copyItem(at: copy, to: file)
                }
            }
            #expect(try tool.run("get", "generic").status == 36)
            #expect(try tool.unlock().status == 0)
            #expect(try tool.run("get", "generic").text == "secret")
            try? FileManager.default.removeItem(at: tool.store.appendingPathComponent("kept"))
        }
    }

    @Test(
        "While locked, what needs the lock's keys is refused with 36 and said to be locked",
        arguments: [
            "get generic --account when-unlocked", "get generic --account when-passcode-set", "find", "find --json",
            "find generic --account when-unlocked", "update generic --account when-unlocked --set-label l",
            "update generic --account when-unlocked", "delete generic --account when-unlocked",
            "add generic --service s --account new", "add generic --service s --account when-unlocked --update",
            "add generic --service s --account new --accessible when-passcode-set",
        ])
    func refused(command: String) throws {
        try withLocked { (tool) throws in
            let outcome = try tool.shell("printf new | $K \(command)")
            #expect(outcome.status == 36)
            #expect(outcome.text.isEmpty)
            #expect(outcome.errors.contains("locked"))
            #expect(!outcome.errors.contains("asks for authentication"))
            #expect(try tool.unlock().status == 0)
            #expect(try tool.run("get", "generic", "--account", "when-unlocked").text == "secret")
            #expect(try tool.run("get", "generic", "--account", "new").status == 44)
        }
    }

    @Test("While locked, what needs other keys is there, and what is nowhere is not found")
    func stillThere() throws {
        try withLocked { (tool) throws in
            for account in ["after-first-unlock", "always"] {
                #expect(try tool.run("get", "generic", "--account", account).text == "secret")
            }
            #expect(try tool.add("new", accessible: "after-first-unlock").status == 0)
            #expect(try tool.run("get", "generic", "--account", "nobody").status == 44)
            #expect(try tool.run("find", "internet").status == 44)
        }
    }

    @Test("While locked, one item cannot be told from several, but all that match can be deleted")
    func delete() throws {
        try withLocked { (tool) throws in
            #expect(try tool.run("delete", "generic", "--account", "always").status == 0)
            #expect(try tool.run("delete", "generic", "--account", "when-unlocked").status == 36)
            #expect(try tool.run("delete", "generic", "--account", "when-unlocked", "--all").status == 0)
            #expect(try tool.unlock().status == 0)
            #expect(try tool.run("get", "generic", "--account", "when-unlocked").status == 44)
            #expect(try tool.run("get", "generic", "--account", "when-passcode-set").text == "secret")
        }
    }

    @Test("Locked and asking for authentication are told apart: the lock comes first")
    func constrained() throws {
        try withPasscode { (tool) throws in
            try tool.asApp(["app"], .add(account: .text("asks"), flags: .userPresence))
            try tool.add("plain")
            #expect(try tool.run("find").errors.contains("ask for authentication"))
            #expect(try tool.run("lock").status == 0)
            let locked = try tool.run("find")
            #expect(locked.status == 36)
            #expect(locked.errors.contains("locked"))
            #expect(try tool.unlock().status == 0)
            #expect(try tool.run("find", "--json").objects.count == 1)
        }
    }

    @Test("A wrong passcode ends with 51 and is counted until the right one comes")
    func wrongPasscode() throws {
        try withLocked("--now") { (tool) throws in
            for (wrong, count) in [("wrong", 1), ("wrong", 1), ("other", 2)] {
                let outcome = try tool.unlock(wrong)
                #expect(outcome.status == 51)
                #expect(outcome.text.isEmpty)
                #expect(!outcome.errors.contains("'\(wrong)'"))
                #expect(try tool.lockStatus["failedAttempts"] as? Int == count)
            }
            #expect(try tool.run("status").text.contains("2 wrong passcodes"))
            #expect(try tool.run("get", "generic", "--account", "when-unlocked").status == 36)
            #expect(try tool.unlock().status == 0)
            #expect(try tool.lockStatus["failedAttempts"] as? Int == 0)
        }
    }

    @Test("While no passcode is looked at nobody is asked for one")
    func delayed() throws {
        try withLocked("--now") { (tool) throws in
            for number in 0..<5 { #expect(try tool.unlock("wrong \(number)").status == 51) }
            for words in [["unlock"], ["passcode", "change"]] {
                let session = try TerminalSession(tool, words: words)
                #expect(try session.end() == 51)
                #expect(!session.transcript.contains("asscode: "))
                #expect(session.transcript.contains("none is looked at for another"))
            }
        }
    }

    @Test("Lines other than one are no passcode to unlock with", arguments: [Data(), Tool.lines("a", "b")])
    func lines(input: Data) throws {
        try withLocked { (tool) throws in
            let outcome = try tool.run("unlock", input: input)
            #expect(outcome.status == 206)
            #expect(outcome.errors.contains("1 line"))
            #expect(try tool.lockStatus["failedAttempts"] as? Int == 0)
        }
    }

    @Test("doctor finds nothing wrong with a keychain that is locked")
    func doctor() throws {
        try withLocked { (tool) throws in
            #expect(try tool.run("doctor").status == 0)
        }
    }

    @Test("At a terminal unlock asks for the passcode, and says that nothing locks by itself")
    func prompt() throws {
        try withLocked { (tool) throws in
            let session = try TerminalSession(tool, "unlock")
            try session.answer("Passcode: ", Tool.passcode)
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("keychainctl watch"))
            #expect(!session.transcript.contains(Tool.passcode))
            #expect(try tool.lockStatus["state"] as? String == "unlocked")
        }
    }
}

extension Tool {
    /// What is written down of the lock (docs/keybag-format.md): the epoch of the last lock is behind that of the last
    /// unlock, or before it.
    fileprivate var lockRecordIsLocked: Bool {
        get throws {
            let record = try Data(contentsOf: store.appendingPathComponent("lock-state"))
            func word(_ offset: Int) -> UInt64 { record[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) } }
            return word(24) > word(48)
        }
    }
}

func eventually(_ condition: () throws -> Bool) throws {
    for _ in 0..<12_000 {
        if try condition() { return }
        usleep(5_000)
    }
    throw TookTooLong(waitingFor: "a lock")
}
