import Foundation
import Glibc
import KeychainModel
import KeychainSalvage
import KeychainTestSupport
import Testing

/// The command with the system's daemon, and as a program that the kernel gives a group.
@Suite struct SystemHostTests {
    /// Runs `body` with the command on a server of the system's kind, which takes the command's word for its groups.
    private func withSystem(_ body: (Tool, TestKeychain) throws -> Void) throws {
        try withKeychain(.system) { keychain in
            try withTool { tool in
                var tool = tool
                tool.variables["KEYCHAIN_HOST"] = "unix:" + keychain.directory.appendingPathComponent("socket").path
                tool.variables["KEYCHAIN_PROMPT"] = "none"
                try body(tool, keychain)
            }
        }
    }

    @Test("'whoami' tells what the host knows of the program, with each host")
    func whoami() throws {
        try withTool { tool in
            let own = try tool.run("whoami", "--json").object
            #expect(own["kind"] as? String == "declared" && own["host"] as? String == "embedded")
            #expect(own["groups"] as? [String] == ["keychainctl"] && own["name"] is NSNull)
            #expect(own["uid"] as? Int == Int(geteuid()) && (own["evidence"] as? [String])?.count == 1)
            #expect(try tool.run("whoami").text.contains("what it says itself"))
            // It makes no store.
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
        try withSystem { tool, _ in
            let known = try tool.run("whoami", "--json").object
            #expect(known["groups"] as? [String] == ["keychainctl"])
            #expect((known["pid"] as? Int).map { $0 > 1 && $0 != Int(getpid()) } == true)
            #expect((known["host"] as? String)?.hasPrefix("unix:") == true)
        }
    }

    @Test("A new item goes to the first group that the system's daemon grants, by every kind of command")
    func ownGroup() throws {
        try withSystem { tool, _ in
            #expect(try tool.run("add", "s", "--account", "a", input: Data("x".utf8)).status == 0)
            #expect(try tool.run("add", "s", "--account", "b", "--comment", "c", input: Data("x".utf8)).status == 0)
            #expect(try tool.run("key", "generate", "--type", "ec256", "--tag", "t").status == 0)
            let items = try tool.run("find", "--json").objects
            #expect(items.count == 3)
            #expect(items.allSatisfy { $0["group"] as? String == "keychainctl" }, "\(items)")
            #expect(try tool.run("get", "s", "--account", "a").text == "x")
            let refused = try tool.run("add", "s", "--account", "a", "--group", "keychain", input: Data("x".utf8))
            #expect(refused.status == 30 && refused.errors.contains("/etc/keychain/entitlements.d"))
        }
    }

    @Test("The owner's work is refused with a word where nothing shows that the owner wants it")
    func ownersWork() throws {
        try withSystem { tool, keychain in
            try tool.run("add", "s", "--account", "a", input: Data("x".utf8))
            let file = tool.home.appendingPathComponent("export").path
            let twice = Data("passphrase\npassphrase\n".utf8)
            let unshown = try tool.run("export", file, input: twice)
            #expect(unshown.status == 30 && unshown.errors.contains("owner of the keychain"), "\(unshown.errors)")
            #expect(!unshown.errors.contains("entitlements"))
            try keychain.setPasscode("1234")
            for words in [["export", file], ["doctor", "--compact"], ["delete", "--expired", "--yes"]] {
                let refused = try tool.run(words: words, input: twice)
                #expect(refused.status == 36, "\(words): \(refused.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test("'status' and 'doctor' say what the system's daemon protects, and what it does not show")
    func statusAndDoctor() throws {
        try withSystem { tool, _ in
            try tool.run("add", "s", "--account", "a", input: Data("x".utf8))
            let status = try tool.run("status", "--json").object
            #expect(status["bytesOnDisk"] as? Int == 0)
            let identity = status["identity"] as? [String: Any]
            #expect(identity?["source"] as? String == "daemon" && identity?["authority"] as? String == "groups")
            #expect((status["items"] as? [String: Any])?["generic"] as? Int == 1)
            let words = try tool.run("status", "--verbose").text
            #expect(words.contains("the system's keychaind") && !words.contains("On disk"), "\(words)")
            let doctor = try tool.run("doctor", "--json")
            let findings = doctor.object["findings"] as? [[String: Any]] ?? []
            #expect(doctor.object["checkedItems"] is NSNull)
            #expect(findings.contains { ($0["text"] as? String)?.contains("for the owner to check") == true }, "\(findings)")
        }
    }

    @Test("A /proc that hides processes is found by its last mount")
    func hiddenProcesses() {
        func findings(_ lines: String...) -> [String] {
            StoreFinding.hiddenProcesses(mounts: lines.joined(separator: "\n")).map(\.text)
        }
        let plain = "22 28 0:21 / /proc rw,nosuid - proc proc rw"
        let other = "50 28 0:50 / /proc/sys/fs rw - autofs systemd-1 rw,hidepid=2"
        #expect(findings() == [] && findings(plain, other) == [])
        for option in ["hidepid=2", "hidepid=invisible", "hidepid=1,gid=30"] {
            let found = findings(plain, "23 28 0:21 / /proc rw - proc proc rw,\(option)", other)
            #expect(found.count == 1 && found[0].contains("/proc is mounted with hidepid="), "\(found)")
        }
        #expect(findings("23 28 0:21 / /proc rw - proc proc rw,hidepid=2", plain) == [])
        for option in ["hidepid=0", "hidepid=off"] {
            #expect(findings("22 28 0:21 / /proc rw - proc proc rw,\(option)") == [])
        }
    }

    // MARK: - As a program with a group of its own

    private static let group: gid_t = 54_321

    /// Whether a copy of the command gets the group of its file here.
    private static let canGiveGroup: Bool = {
        var status = statvfs()
        let isGiven = statvfs(FileManager.default.temporaryDirectory.path, &status) == 0
        return geteuid() == 0 && isGiven && status.f_flag & UInt(ST_NOSUID) == 0
    }()

    /// A copy of the command whose file gives it a group.
    private func entitled(in directory: URL) throws -> String {
        let path = directory.appendingPathComponent("entitled").path
        try FileManager.default.copyItem(atPath: Tool.executable.path, toPath: path)
        #expect(chown(path, 0, Self.group) == 0 && chmod(path, 0o2755) == 0)
        return path
    }

    @Test("A program with a group by its file goes by no variable of its caller", .enabled(if: canGiveGroup))
    func environment() throws {
        try withTool { tool in
            let program = try entitled(in: tool.home)
            let evil = tool.home.appendingPathComponent("evil").path
            var hostile = tool
            for name in ["KEYCHAIN_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME", "CREDENTIALS_DIRECTORY"] {
                hostile.variables[name] = evil
            }
            hostile.variables["KEYCHAIN_PINENTRY"] = evil + "/pinentry"
            hostile.variables["PATH"] = evil + ":/usr/bin:/bin"
            // The control: without the group of its file the same program follows them.
            #expect(try hostile.shell("$K status --json").object["store"] as? String == evil)
            let status = try hostile.shell("\(program) status --json")
            #expect(status.status == 0, "\(status.errors)")
            #expect((status.object["store"] as? String)?.hasPrefix(evil) == false)
            hostile.variables["KEYCHAIN_HOST"] = "unix:" + evil
            #expect(try hostile.shell("$K whoami").status == 53)
            #expect(try hostile.shell("\(program) whoami --json").object["host"] as? String != "unix:" + evil)
            // The programs that it starts do not get its group.
            let child = try hostile.shell("\(program) run -- id -g")
            #expect(child.status == 0 && child.text == "0\n", "\(child.text) \(child.errors)")
        }
    }

    @Test("A program that was started without the group of its file is refused, with a word", .enabled(if: canGiveGroup))
    func lostGroup() throws {
        try withSystem { tool, _ in
            let program = try entitled(in: tool.home)
            let refused = try tool.shell("setpriv --no-new-privs \(program) add s --account a </dev/null")
            #expect(refused.status == 30, "\(refused.errors)")
            #expect(refused.errors.contains("no_new_privs") && refused.errors.contains("\(Self.group)"))
            // The control: the same program without such a group is served.
            #expect(try tool.shell("echo x | setpriv --no-new-privs $K add s --account a").status == 0)
        }
    }
}
