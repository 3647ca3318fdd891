import Foundation
import KeychainTestSupport
import Testing

/// Commands that root runs in a person's home, and what they leave there.
@Suite(.enabled(if: geteuid() == 0, "only root can be two users at once")) struct ForeignHomeTests {
    private static let person = 65431

    /// A person's home.
    private struct Home {
        let tool: Tool
        /// A list of accounts with the person.
        let accounts: URL

        /// In a mount namespace of its own with that list.
        func asRoot(_ line: String) throws -> Tool.Outcome {
            try tool.start(
                URL(fileURLWithPath: "/usr/bin/unshare"),
                ["--mount", "/bin/sh", "-c", "mount --bind \"$0\" /etc/passwd && { \(line); }", accounts.path],
                input: Data())
        }

        func asPerson(_ words: String) throws -> Tool.Outcome {
            try tool.shell("setpriv --reuid \(person) --regid \(person) --clear-groups $K \(words)")
        }

        var files: [String] { get throws { try FileManager.default.subpathsOfDirectory(atPath: tool.home.path) } }
    }

    private func withHome(_ body: (Home) throws -> Void) throws {
        try withTool { tool throws in
            try withTemporaryDirectory { directory throws in
                let accounts = directory.appendingPathComponent("passwd")
                let ada = "ada:x:\(Self.person):\(Self.person)::\(tool.home.path):/bin/sh"
                try Data("root:x:0:0::/root:/bin/sh\n\(ada)\n".utf8).write(to: accounts)
                try #require(tool.shell("chown \(Self.person):\(Self.person) '\(tool.home.path)'").status == 0)
                try #require(chmod(tool.home.path, 0o755) == 0)
                try body(Home(tool: tool, accounts: accounts))
            }
        }
    }

    @Test(
        "Root makes neither store nor device key in a person's home, and says what to do",
        arguments: [
            "add mail --account me", "add mail --account me --store $HOME/other",
            "add mail --account me --store $HOME/none/../other", "add mail --account me --store $HOME/link/other",
            "add mail --account me --store $HOME/roots/other",
        ])
    func refused(command: String) throws {
        try withHome { home throws in
            try #require(home.tool.shell("ln -s . $HOME/link; mkdir $HOME/roots").status == 0)
            let before = try home.files
            let outcome = try home.asRoot("printf pw | $K \(command)")
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("the home of ada"), "\(outcome.errors)")
            #expect(outcome.errors.contains("sudo -u 'ada'"))
            #expect(outcome.errors.contains("--owner root"))
            #expect(try home.files == before)
        }
    }

    @Test("A store or a device key alone is not made in a person's home either")
    func deviceKey() throws {
        try withHome { home throws in
            try withTemporaryDirectory { own throws in
                let outcome = try home.asRoot("printf pw | $K add mail --account me --store '\(own.path)/store'")
                #expect(outcome.status == 53)
                #expect(!FileManager.default.fileExists(atPath: own.path + "/store"), "a store is made in part")
                #expect(outcome.errors.contains("state/keychain is not made"), "\(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: home.tool.home.appendingPathComponent("state").path))
                let store = try home.asRoot("printf pw | $K add mail --account me --device-key '\(own.path)/key'")
                #expect(store.status == 53)
                #expect(store.errors.contains("data/keychain is not made"), "\(store.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: own.path) == [])
            }
        }
    }

    @Test("Root has a keychain in a person's home with --owner root, and then without, and repairs it")
    func meant() throws {
        try withHome { home throws in
            for name in ["#\(Self.person)", "nobody", "daemon"] {
                let outcome = try home.tool.run("add", "mail", "--account", "me", "--owner", name)
                #expect(outcome.status == 64)
                #expect(outcome.errors.contains("sudo -u '\(name)'"))
            }
            #expect(try home.asRoot("printf pw | $K add mail --account me --owner root").status == 0)
            #expect(try home.asRoot("$K get mail").text == "pw")
            #expect(try home.asRoot("printf pw | $K add more --account me").status == 0)
            try home.tool.edit("CREATE TABLE of_somebody_else (a)")
            let repair = try home.asRoot("$K doctor --repair")
            #expect(repair.status == 0, "\(repair.errors)")
            #expect(try home.asRoot("$K get mail").text == "pw")
        }
    }

    @Test("A home of root's that its person's group may write to is a home, and a keychain there is given back")
    func homeOfRoots() throws {
        try withHome { home throws in
            try #require(home.tool.shell("chown 0:\(Self.person) $HOME && chmod 775 $HOME").status == 0)
            let refused = try home.asRoot("printf pw | $K add mail --account me")
            #expect(refused.status == 53 && refused.errors.contains("the home of ada"), "\(refused.errors)")
            // By a link of another name, which the account has.
            let link = home.tool.home.path + "-of-ada"
            let linked = "ln -s $HOME '\(link)'; sed -i 's|:\(home.tool.home.path):|:\(link):|' \(home.accounts.path)"
            defer { unlink(link) }
            try #require(home.tool.shell(linked).status == 0)
            let there = "HOME='\(link)' XDG_DATA_HOME='\(link)/data'"
            let other = try home.asRoot("printf pw | \(there) $K add mail --account me")
            #expect(other.status == 53 && other.errors.contains("the home of ada"), "\(other.errors)")
            let back = "sed -i 's|:\(link):|:\(home.tool.home.path):|' \(home.accounts.path)"
            try #require(home.tool.shell(back).status == 0)
            #expect(try home.asRoot("printf pw | $K add mail --account me --owner root").status == 0)
            let change = "setpriv --reuid \(Self.person) --regid \(Self.person) --clear-groups"
            let told = try home.asRoot("\(change) $K find")
            #expect(told.errors.contains("sudo chown -R \(Self.person) '\(home.tool.store.path)'"))
            #expect(try home.asRoot("chmod 755 $HOME; $K doctor").text.contains("nothing is wrong"))
        }
    }

    @Test("Root is told of a keychain of root's in a person's home, and how the person gets it")
    func toldToRoot() throws {
        try withHome { home throws in
            #expect(try home.asRoot("printf pw | $K add mail --account me --owner root").status == 0)
            let doctor = try home.asRoot("$K doctor --json")
            #expect(doctor.status == 0)
            for directory in [home.tool.store, home.tool.deviceKey] {
                let above = directory.deletingLastPathComponent().path
                let way = "sudo chown \(Self.person) '\(above)'; sudo chown -R \(Self.person) '\(directory.path)'"
                let told = doctor.text.replacing("\\/", with: "/")
                #expect(told.contains("does not open for ada") && told.contains(way), "\(told)")
                try #require(home.tool.shell(way.replacing("sudo ", with: "")).status == 0)
            }
            #expect(try home.asPerson("get mail").text == "pw")
        }
    }

    @Test("Root is told of no keychain but its own, and given no directory above the home to give away")
    func toldNothingElse() throws {
        try withHome { home throws in
            let person = "setpriv --reuid \(Self.person) --regid \(Self.person) --clear-groups"
            #expect(try home.asRoot("printf pw | \(person) $K add mail --account me").status == 0)
            try withTemporaryDirectory { own throws in
                try #require(chmod(own.path, 0o700) == 0)
                let doctor = try home.asRoot("$K doctor --store '\(own.path)'")
                #expect(!(doctor.text + doctor.errors).contains("does not open for"), "\(doctor)")
                // A home that is reached by a link, whose way there is longer.
                let link = own.appendingPathComponent("a/way/that/is/longer").path
                try #require(
                    home.tool.shell("mkdir -p '\(own.path)/a/way/that/is' && ln -s $HOME '\(link)'").status == 0)
                let words = "--store '\(link)/roots/store' --device-key '\(own.path)'"
                #expect(try home.asRoot("printf pw | $K add mail --account me --owner root \(words)").status == 0)
                let told = try home.asRoot("$K doctor \(words) --json").text.replacing("\\/", with: "/")
                #expect(told.contains("sudo chown \(Self.person) '\(link)/roots'; sudo chown -R"), "\(told)")
            }
        }
    }

    @Test("Root mounts nothing, and has no daemon listen, where a person's own would be kept out")
    func mountAndDaemon() throws {
        try withHome { home throws in
            let mount = try home.asRoot("mkdir $HOME/v $HOME/m; $K file mount $HOME/v $HOME/m")
            #expect(mount.errors.contains("the home of ada"), "\(mount.errors)")
            let run = home.tool.home.appendingPathComponent("run").path
            try #require(home.tool.shell("mkdir -m 700 '\(run)' && chown \(Self.person) '\(run)'").status == 0)
            let daemon = try home.asRoot("HOME=/root XDG_RUNTIME_DIR='\(run)' timeout 60 ${K%ctl}d --user")
            #expect(daemon.status != 124)
            #expect(daemon.errors.contains("belongs to user \(Self.person)"), "\(daemon.errors)")
            #expect(!FileManager.default.fileExists(atPath: run + "/keychain"))
            // The person's own, which is in use.
            let making = "mkdir -m 700 '\(run)/keychain' && chown \(Self.person) '\(run)/keychain'"
            try #require(home.tool.shell(making).status == 0)
            let other = try home.asRoot("HOME=/root XDG_RUNTIME_DIR='\(run)' timeout 60 ${K%ctl}d --user")
            #expect(other.errors.contains("run keychaind as that user"), "\(other.errors)")
        }
    }

    @Test("A directory of root's that is there already is meant for root's keychain")
    func madeBefore() throws {
        try withHome { home throws in
            let (store, deviceKey) = (home.tool.store.path, home.tool.deviceKey.path)
            try #require(home.tool.shell("mkdir -p -m 700 '\(store)' '\(deviceKey)'").status == 0)
            #expect(try home.asRoot("printf pw | $K add mail --account me").status == 0)
            #expect(try home.asRoot("$K get mail").text == "pw")
        }
    }

    @Test("Where no account has its home root makes a keychain, in a directory of whatever user")
    func strangers() throws {
        try withHome { home throws in
            // As in a container whose home directory comes from outside.
            #expect(try home.tool.run("add", "mail", "--account", "me").status == 0)
            #expect(try home.tool.run("get", "mail").text == "any")
            // Nor is everything that a person owns a home.
            try withTemporaryDirectory { other throws in
                try #require(chown(other.path, uid_t(Self.person), gid_t(Self.person)) == 0)
                let words = "--store '\(other.path)/store' --device-key '\(other.path)/key'"
                #expect(try home.asRoot("printf pw | $K add mail --account me \(words)").status == 0)
            }
        }
    }

    @Test("A person makes a keychain at home, and so does root at home", arguments: [0, person])
    func own(user: Int) throws {
        try withHome { home throws in
            try #require(chown(home.tool.home.path, uid_t(user), gid_t(user)) == 0)
            let change = "setpriv --reuid \(user) --regid \(user) --clear-groups"
            #expect(try home.asRoot("printf pw | \(change) $K add mail --account me").status == 0)
            #expect(try home.asRoot("\(change) $K get mail").text == "pw")
        }
    }

    @Test("A keychain that root has made in a person's home is explained to the person, and given back as is said")
    func givenBack() throws {
        try withHome { home throws in
            #expect(try home.tool.run("add", "mail", "--account", "me").status == 0)
            for (command, directory) in [("find", home.tool.store), ("get mail", home.tool.deviceKey)] {
                let above = directory.deletingLastPathComponent().path
                let outcome = try home.asPerson(command)
                #expect(outcome.status == 53)
                #expect(outcome.errors.contains("\(above) belongs to user 0, and this program runs as \(Self.person)"))
                let way = "chown \(Self.person) '\(above)'; sudo chown -R \(Self.person) '\(directory.path)'"
                #expect(outcome.errors.contains("sudo \(way)"), "\(outcome.errors)")
                let doctor = try home.asPerson("doctor")
                // A table is folded at the width of a terminal.
                let told = (doctor.errors + doctor.text).split { $0.isWhitespace }.joined(separator: " ")
                let status: Int32 = directory == home.tool.store ? 53 : 1
                #expect(doctor.status == status && told.contains("sudo \(way)"), "\(doctor)")
                try #require(home.tool.shell(way.replacing("sudo ", with: "")).status == 0)
            }
            #expect(try home.asPerson("get mail").text == "any")
        }
    }

    @Test("The way back is a line for a shell, or none")
    func strangePlaces() throws {
        try withHome { home throws in
            let store = home.tool.home.appendingPathComponent("it's/keychain")
            let making = "mkdir -p \"$HOME/it's/keychain\" && chmod 700 \"$HOME/it's\""
            try #require(home.tool.shell(making).status == 0)
            let outcome = try home.asPerson("find --store \"$HOME/it's/keychain\"")
            let quoted = store.path.replacing("'", with: #"'"'"'"#)
            #expect(outcome.errors.contains("-R \(Self.person) '\(quoted)'"), "\(outcome.errors)")
            try #require(home.tool.shell("mkdir -m 700 \"$HOME/a\tb\" && ln -s /root $HOME/link").status == 0)
            for place in ["a\tb/keychain", "link/keychain"] {
                let other = try home.asPerson("find --store \"$HOME/\(place)\"")
                #expect(other.status == 53 && !other.errors.contains("sudo"), "\(other.errors)")
            }
        }
    }
}
