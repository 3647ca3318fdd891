import Foundation
import KeychainTestSupport
import Testing

/// Commands that root runs in a person's home, and what they leave there.
@Suite(.enabled(if: geteuid() == 0, "only root can be two users at once")) struct ForeignHomeTests {
    private static let person = 65431

    private func withHome(_ body: (Tool) throws -> Void) throws {
        try withTool { tool throws in
            try #require(tool.shell("chown \(Self.person):\(Self.person) '\(tool.home.path)'").status == 0)
            try #require(chmod(tool.home.path, 0o755) == 0)
            try body(tool)
        }
    }

    private func asPerson(_ words: String, _ tool: Tool) throws -> Tool.Outcome {
        try tool.shell("setpriv --reuid \(Self.person) --regid \(Self.person) --clear-groups $K \(words)")
    }

    @Test(
        "Root makes neither store nor device key in a person's home, and says what to do",
        arguments: [
            "add mail --account me", "add mail --account me --store $HOME/other",
        ])
    func refused(command: String) throws {
        try withHome { tool throws in
            let before = try FileManager.default.subpathsOfDirectory(atPath: tool.home.path)
            let outcome = try tool.shell("printf pw | $K \(command)")
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("belongs to user \(Self.person), and this program runs as 0"))
            #expect(outcome.errors.contains("sudo -u '#\(Self.person)'"))
            #expect(outcome.errors.contains("--owner root"))
            #expect(try FileManager.default.subpathsOfDirectory(atPath: tool.home.path) == before)
        }
    }

    @Test("A device key alone is not made in a person's home either")
    func deviceKey() throws {
        try withHome { tool throws in
            try withTemporaryDirectory { own throws in
                let outcome = try tool.shell("printf pw | $K add mail --account me --store '\(own.path)/store'")
                #expect(outcome.status == 53)
                #expect(outcome.errors.contains("state/keychain is not made"), "\(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("state").path))
            }
        }
    }

    @Test("Root has a keychain in a person's home with --owner root, and then without; no other name is taken")
    func meant() throws {
        try withHome { tool throws in
            for name in ["#\(Self.person)", "nobody", "daemon"] {
                let outcome = try tool.run("add", "mail", "--account", "me", "--owner", name)
                #expect(outcome.status == 64)
                #expect(outcome.errors.contains("sudo -u \(name)"))
            }
            #expect(try tool.run("add", "mail", "--account", "me", "--owner", "root").status == 0)
            #expect(try tool.run("get", "mail").text == "any")
            #expect(try tool.run("add", "more", "--account", "me").status == 0)
        }
    }

    @Test("A directory of root's that is there already is meant for root's keychain")
    func madeBefore() throws {
        try withHome { tool throws in
            try #require(tool.shell("mkdir -p -m 700 '\(tool.store.path)' '\(tool.deviceKey.path)'").status == 0)
            #expect(try tool.run("add", "mail", "--account", "me").status == 0)
            #expect(try tool.run("get", "mail").text == "any")
        }
    }

    @Test("A person makes a keychain at home, and so does root at home", arguments: [0, person])
    func own(user: Int) throws {
        try withHome { tool throws in
            try #require(chown(tool.home.path, uid_t(user), gid_t(user)) == 0)
            let change = "setpriv --reuid \(user) --regid \(user) --clear-groups"
            #expect(try tool.shell("printf pw | \(change) $K add mail --account me").status == 0)
            #expect(try tool.shell("\(change) $K get mail").text == "pw")
        }
    }

    @Test("A keychain that root has made in a person's home is explained to the person, and given back as is said")
    func givenBack() throws {
        try withHome { tool throws in
            #expect(try tool.run("add", "mail", "--account", "me", "--owner", "root").status == 0)
            for (command, directory) in [("find", "data"), ("get mail", "state")] {
                let path = tool.home.appendingPathComponent(directory).path
                let way = "chown -R \(Self.person) '\(path)'"
                let outcome = try asPerson(command, tool)
                #expect(outcome.status == 53)
                #expect(outcome.errors.contains("\(path) belongs to user 0, and this program runs as \(Self.person)"))
                #expect(outcome.errors.contains("sudo \(way)"), "\(outcome.errors)")
                let doctor = try asPerson("doctor", tool)
                // A table is folded at the width of a terminal.
                let told = (doctor.errors + doctor.text).split { $0.isWhitespace }.joined(separator: " ")
                #expect(doctor.status == (directory == "data" ? 53 : 1) && told.contains("sudo \(way)"), "\(doctor)")
                try #require(tool.shell(way).status == 0)
            }
            #expect(try asPerson("get mail", tool).text == "any")
        }
    }
}
