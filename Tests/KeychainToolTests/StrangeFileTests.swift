import Foundation
import KeychainTestSupport
import Testing

/// What somebody left in a store's directory who can write there and has no key.
@Suite struct StrangeFileTests {
    enum Kind: String, CaseIterable { case pipe, link, directory, socket }

    /// Something of that kind in a file's place; what a link leads to is there.
    private func put(_ kind: Kind, at path: String, _ tool: Tool) throws {
        let line =
            switch kind {
            case .pipe: "mkfifo '\(path)'"
            case .link: "ln -s '\(tool.home.path)/target' '\(path)'"
            case .directory: "mkdir '\(path)'"
            // By a relative name: those of sockets have few bytes.
            case .socket:
                "cd '\((path as NSString).deletingLastPathComponent)' && python3 -c \"import socket; "
                    + "socket.socket(socket.AF_UNIX).bind('\((path as NSString).lastPathComponent)')\""
            }
        #expect(try tool.shell("rm -rf '\(path)'; \(line)").status == 0)
    }

    private static let files = [
        "keychain.db", "keychain.db-wal", "keychain.db-shm", "keychain.db-journal", "keybag", "attempts", "lock-state",
        "lock-listeners", "host", "store.lock", "write.lock", "reserve", "daemon.lock", "keybag.new", "device-key",
    ]

    @Test("Nothing in the place of one of our files is followed, waited for, or ends the program", arguments: files)
    func inPlace(file: String) throws {
        try withTool { tool in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            let directory = file == "device-key" ? tool.deviceKey : tool.store
            let kept = tool.home.appendingPathComponent("kept")
            try FileManager.default.copyItem(at: directory, to: kept)
            let target = tool.home.appendingPathComponent("target")
            for kind in Kind.allCases {
                try Data("of somebody else".utf8).write(to: target)
                try put(kind, at: directory.appendingPathComponent(file).path, tool)
                let locks = file.hasPrefix("lock-") || file == "keybag" ? ["lock --now"] : []
                for command in ["get generic --service s", "add generic --service t --account b --update", "doctor"]
                    + locks
                {
                    let outcome = try tool.shell("echo secret | timeout 20 $K \(command)")
                    #expect(outcome.status < 124, "\(kind) \(command): \(outcome.status) \(outcome.errors)")
                    // It works all the same, or says which file it is.
                    if outcome.status != 0 && command != "lock --now" {
                        #expect((outcome.errors + outcome.text).contains(file), "\(kind) \(command): \(outcome.errors)")
                    }
                }
                #expect(try Data(contentsOf: target) == Data("of somebody else".utf8), "\(kind)")
                // What was there is put back, and all is as it was.
                #expect(
                    try tool.shell("rm -rf '\(directory.path)'; cp -r '\(kept.path)' '\(directory.path)'").status == 0)
                #expect(try tool.run("get", "generic", "--service", "s").text.hasPrefix("secret"), "\(kind)")
            }
        }
    }

    @Test(
        "A trigger, a view or another table is told, refused and not carried into a repaired store",
        arguments: [
            "CREATE TRIGGER undo AFTER UPDATE ON item BEGIN UPDATE item SET version=version WHERE id=new.id; END",
            "CREATE TRIGGER keep BEFORE DELETE ON item BEGIN SELECT RAISE(IGNORE); END",
            "CREATE VIEW more AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c",
            "CREATE TABLE attic (key, metadata)", "CREATE INDEX more ON item(version)",
            "DROP INDEX item_by_home",
        ])
    func schema(sql: String) throws {
        try withTool { tool in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            try tool.edit(sql)
            let before = try tool.database.contentsWithLog
            for words in [
                ["get", "generic"], ["update", "generic", "--service", "s", "--set-label", "l"],
                ["delete", "generic", "--service", "s"],
            ] {
                let outcome = try tool.run(words: words)
                #expect(outcome.status == 53 && outcome.errors.contains("doctor --repair"), "\(outcome.errors)")
            }
            let doctor = try tool.run("doctor")
            #expect(doctor.status != 0 && doctor.text.contains("changed by another program"), "\(doctor.text)")
            #expect(try tool.database.contentsWithLog == before)
            let repair = try tool.run("doctor", "--repair")
            #expect(repair.status == 0, "\(repair.errors)")
            #expect(try tool.run("get", "generic").text == "secret")
            #expect(try tool.run("doctor").status == 0)
        }
    }

    /// What SQLite's own tools leave in a database is no stranger's.
    @Test("A database whose contents SQLite has counted opens")
    func analysed() throws {
        try withTool { tool in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            try tool.edit("ANALYZE")
            #expect(try tool.run("get", "generic").text == "secret")
        }
    }

    @Test("The mark of a store names no socket, and what else it says is not told")
    func mark() throws {
        try withTool { tool in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            let mark = tool.store.appendingPathComponent("host")
            let socket = tool.home.appendingPathComponent("socket")
            let listener = tool.home.appendingPathComponent("heard")
            let python = Process()
            python.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            python.arguments = [
                "-c",
                """
                import os, socket, sys
                os.chdir('\(tool.home.path)')
                s = socket.socket(socket.AF_UNIX); s.bind('socket'); s.listen(); open('ready', 'w')
                s.accept(); open('\(listener.path)', 'w')
                """,
            ]
            try python.run()
            defer {
                // A thread of a test may have other signals blocked, and a child inherits that.
                kill(python.processIdentifier, SIGKILL)
                python.waitUntilExit()
            }
            try eventually { FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("ready").path) }
            for word in ["unix:\(socket.path)", "nobody", "embedded", "db.example.com:5432:app:S3cretPgPass"] {
                try Data("\(word)\n".utf8).write(to: mark)
                let outcome = try tool.run("unlock", input: Tool.lines("CorrectHorse"))
                #expect(outcome.status == 53 && outcome.errors.contains("host"), "\(outcome.errors)")
                #expect(!outcome.errors.contains(word), "\(outcome.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: listener.path))
        }
    }

    @Test(
        "Hostile sizes end soon, in little memory",
        arguments: [
            ("keychain.db-wal whole", "get generic"), ("keychain.db-wal whole", "doctor --repair"),
            ("keychain.db-wal", "get generic"), ("keychain.db-wal", "doctor"), ("keychain.db", "get generic"),
            ("keychain.db", "doctor"), ("keychain.db", "doctor --repair"), ("keychain.db-wal", "doctor --repair"),
            ("keybag", "get generic"), ("keybag", "doctor --repair"), ("attempts", "doctor --repair"),
            ("host", "get generic"), ("lock-state", "get generic"), ("lock-state", "doctor --repair"),
            ("keychain.db-shm", "get generic"), ("reserve", "get generic"),
        ])
    func sizes(file: String, command: String) throws {
        try withTool { tool in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            let python = """
                import resource, subprocess, sys, time
                start = time.monotonic()
                done = subprocess.run(sys.argv[1:], capture_output=True, timeout=30)
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                print(done.returncode, peak, round(time.monotonic() - start, 1))
                """
            // A log that begins as one of SQLite's, so that what follows is looked at.
            if file == "keychain.db-wal whole" {
                _ = try tool.shell(
                    "python3 -c \"import sqlite3, os; c = sqlite3.connect('\(tool.database.path)'); "
                        + "c.execute('CREATE TABLE x (y)'); c.execute('DROP TABLE x'); c.commit(); os._exit(0)\"")
                let size = try Data(contentsOf: URL(fileURLWithPath: tool.database.path + "-wal")).count
                try #require(size > 4096)
            }
            let name = file.split(separator: " ")[0]
            #expect(try tool.shell("cd '\(tool.store.path)' && truncate -s 1T \(name)").status == 0)
            let outcome = try tool.shell("python3 -c '\(python)' $K \(command)")
            let numbers = outcome.text.split(separator: " ").compactMap { Double($0.trimmingCharacters(in: .newlines)) }
            let peak = try #require(numbers.dropFirst().first, "\(outcome.errors)")
            #expect(numbers[0] >= 0 && numbers[0] < 124, "\(outcome.text)")
            #expect(peak < 200_000, "\(peak) KiB")
        }
    }
}

extension URL {
    /// Of a database, with what its log holds.
    fileprivate var contentsWithLog: [Data] {
        get throws {
            try [Data(contentsOf: self), (try? Data(contentsOf: URL(fileURLWithPath: path + "-wal"))) ?? Data()]
        }
    }
}
