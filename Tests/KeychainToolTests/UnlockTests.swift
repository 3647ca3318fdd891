import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// What keeps an unlock waiting, or from ever working, and who says so.
@Suite(.serialized, .enabled(if: Tool.sharesKeys)) struct UnlockTests {
    @Test(
        "While unlock waits for another program it says for which one, and a signal ends it",
        arguments: ["INT", "TERM", "HUP"])
    func waiting(_ signal: String) throws {
        try withPasscode { (tool) throws in
            try tool.run("lock")
            let outcome = try tool.shell(
                """
                cd '\(tool.home.path)' && printf '%s\\n' '\(Tool.passcode)' >passcode
                flock data/keychain/store.lock /bin/sh -c '
                    # An interactive shell leaves SIGINT to its background jobs.
                    python3 -c "
                import os, signal, sys
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.execv(sys.argv[1], sys.argv[1:])" "$K" unlock <passcode 2>errors &
                    until grep -q "holds" errors || ! kill -0 $!; do sleep 0.02; done
                    "$K" doctor; kill -\(signal) $!
                    # It gives up by itself after a minute.
                    left=400; while [ $((left -= 1)) -gt 0 ] && kill -0 $! 2>/dev/null; do sleep 0.1; done
                    [ $left -gt 0 ] || echo "took no signal"
                    wait $!; echo "ended: $?"
                '
                cat errors >&2; "$K" unlock <passcode || exit 9
                """)
            let number = ["INT": 130, "TERM": 143, "HUP": 129][signal]!
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text.hasSuffix("ended: \(number)\n"), "\(outcome.text)")
            #expect(!outcome.text.contains("took no signal"))
            #expect(outcome.errors.contains("waiting for flock (process"))
            #expect(outcome.words.contains("store.lock: an unlock waits for it"))
        }
    }

    @Test(
        "What stands in the place of a file and keeps an unlock from working is found by doctor",
        arguments: ["store.lock", "lock-state", "attempts"], ["mkfifo", "mkdir", "ln -s nowhere"])
    func obstacles(_ name: String, _ command: String) throws {
        try withPasscode { (tool) throws in
            let path = tool.store.appendingPathComponent(name).path
            try tool.run("lock", "--now")
            #expect(try tool.shell("rm -f '\(path)' && \(command) '\(path)'").status == 0)
            let unlock = try tool.unlock()
            let doctor = try tool.run("doctor")
            #expect(unlock.status == 53, "\(unlock.errors)")
            #expect(doctor.status == 1)
            #expect(doctor.words.contains("\(path) is a") && doctor.words.contains("move it away"), "\(doctor.text)")
            #expect(try tool.shell("rm -rf '\(path)'").status == 0)
            #expect(try tool.unlock().status == 0)
            #expect(try tool.run("doctor").status == 0)
        }
    }

    @Test("While no passcode is tried after wrong ones, doctor says for how long")
    func delay() throws {
        try withPasscode { (tool) throws in
            try tool.run("lock", "--now")
            #expect(try !tool.run("doctor").words.contains("wrong passcodes"))
            for number in 1...5 { try tool.unlock("wrong \(number)") }
            #expect(try tool.unlock().status == 51)
            let doctor = try tool.run("doctor")
            #expect(doctor.status == 0 && doctor.words.contains("after wrong passcodes none is tried for"))
        }
    }

    @Test("A store that nothing can be written to is found by doctor, where an unlock fails")
    func readOnly() throws {
        try withPasscode { (tool) throws in
            try tool.run("lock", "--now")
            let other = geteuid() == 0 ? "setpriv --bounding-set -dac_override --inh-caps -all " : ""
            #expect(try tool.shell("chmod 500 '\(tool.store.path)'").status == 0)
            let passcode = "printf '%s\\n' '\(Tool.passcode)'"
            #expect(try tool.shell("\(passcode) | \(other)$K unlock").status != 0)
            let doctor = try tool.shell("\(other)$K doctor")
            #expect(doctor.status == 1 && doctor.words.contains("so a passcode cannot be tried"), "\(doctor.text)")
            #expect(try tool.shell("chmod 700 '\(tool.store.path)'").status == 0)
        }
    }

    @Test("A wrong device key gets the advice of a missing one, and a cut keybag its own")
    func wrongDeviceKey() throws {
        try withTool { (tool) throws in
            try tool.run("add", "a", "--account", "me")
            let key = tool.deviceKey.appendingPathComponent("device-key").path
            let advice = "put it back from a backup, or say with --device-key or XDG_STATE_HOME where it is"
            #expect(try tool.shell("cp -p '\(key)' '\(key).kept' && head -c 32 /dev/zero >'\(key)'").status == 0)
            for command in [["doctor"], ["doctor", "--repair"]] {
                let outcome = try tool.run(words: command)
                #expect(outcome.status == 1 && outcome.words.contains(advice), "\(outcome.text)")
                #expect(!outcome.words.contains("run 'keychainctl doctor'"))
            }
            let cut = "mv '\(key).kept' '\(key)' && truncate -s 700 '\(tool.store.path)/keybag'"
            #expect(try tool.shell(cut).status == 0)
            let outcome = try tool.run("doctor")
            #expect(outcome.status == 1 && outcome.words.contains("put the file keybag back from a backup"))
        }
    }

    @Test("Before the first unlock what is always accessible is read and shown, whatever else is stored")
    func beforeFirstUnlock() throws {
        try withPasscode { (tool) throws in
            for name in ["when-unlocked", "after-first-unlock", "always"] { try tool.add(name, accessible: name) }
            try tool.add("own", accessible: "always-this-device-only")
            try tool.run("add", "boot", "--account", "me", "--accessible", "always", input: Data("secret".utf8))
            try tool.run("add", "internet", "--server", "host", "--account", "me")
            tool.dropKeys()
            for words in [
                ["get", "generic", "--service", "s", "--account", "always"],
                ["get", "generic", "--service", "s", "--account", "own"], ["get", "boot"],
                ["get", "boot", "--account", "me", "--group", "keychain"],
            ] {
                let outcome = try tool.run(words: words)
                #expect(outcome.status == 0 && outcome.text == "secret", "\(words): \(outcome.errors)")
            }
            #expect(try tool.run("show", "boot").status == 0)
            let line = "S=keychain://generic/s/always $K run -- sh -c 'printf %s \"$S\"'"
            #expect(try tool.shell(line).text == "secret")
            for words in [
                ["get", "generic", "--service", "s", "--account", "when-unlocked"],
                ["get", "generic", "--service", "s", "--account", "after-first-unlock"], ["get", "internet", "host"],
                ["get", "nothing"], ["rm", "boot"], ["rm", "generic", "--all", "--yes"],
            ] {
                #expect(try tool.run(words: words).status == 36, "\(words)")
            }
            // Two that may be meant are two.
            let two = try tool.run("get", "generic", "--service", "s")
            #expect(two.status != 0 && two.text.isEmpty)
            try tool.unlock()
            #expect(try tool.run("get", "boot").text == "secret")
        }
    }
}

extension Tool.Outcome {
    /// The text, as if no line had been folded.
    fileprivate var words: String { text.split { $0.isWhitespace }.joined(separator: " ") }
}

@Suite struct ExpiredCommandTests {
    @Test("delete --expired names what it deletes, and deletes nothing else")
    func deletes() throws {
        try withTool { (tool) throws in
            try tool.run("add", "stays", "--account", "me")
            #expect(try tool.run("delete", "--expired", "--yes").status == 44)
            try tool.run("add", "goes", "--account", "me", "--expires", "1s")
            let gone = "while $K get goes >/dev/null 2>&1; do sleep 0.1; done"
            #expect(try tool.shell(gone).status == 0)
            #expect(try tool.run("delete", "--expired").status == 64)
            #expect(try tool.run("delete", "--expired", "goes", "--yes").status == 64)
            let look = try tool.run("delete", "--expired", "--dry-run")
            #expect(look.status == 0 && look.text.contains("goes") && look.text.contains("would be deleted"))
            let outcome = try tool.run("delete", "--expired", "--yes")
            #expect(outcome.status == 0 && outcome.text.contains("goes") && !outcome.text.contains("stays"))
            #expect(outcome.text.hasSuffix("1 item deleted\n"))
            #expect(try tool.run("delete", "--expired", "--yes").status == 44)
            #expect(try tool.run("get", "stays").text == "any")
        }
    }

    @Test("A later time that was seen is named by doctor, which deletes nothing, and forgotten by a repair")
    func seenTime() throws {
        try withTool { (tool) throws in
            try tool.run("add", "a", "--account", "me", "--expires", "300d")
            let file = tool.store.appendingPathComponent("lock-state")
            var bytes = try Data(contentsOf: file)
            let date = UInt64(253_402_300_799_000)
            for (offset, word) in [(64, date), (72, ~date)] {
                withUnsafeBytes(of: word.bigEndian) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
            }
            try bytes.write(to: file, options: [])
            #expect(try tool.run("get", "a").status == 44)
            for _ in 0..<2 {
                let doctor = try tool.run("doctor")
                #expect(doctor.status == 1 && doctor.text.contains("9999-12-31"), "\(doctor.text)")
            }
            try tool.run("add", "b", "--account", "me")
            let repair = try tool.run("doctor", "--repair")
            #expect(repair.status == 0, "\(repair.text) \(repair.errors)")
            #expect(try tool.run("get", "a").text == "any")
            #expect(try tool.run("doctor").status == 0)
        }
    }
}
