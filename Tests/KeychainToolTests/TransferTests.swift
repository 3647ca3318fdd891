import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// The commands `export` and `import`. One after the other, since each passphrase costs 128 MiB for a moment.
@Suite(.serialized) struct TransferTests {
    private static let passphrase = "correct horse"
    private static let twice = Tool.lines(passphrase, passphrase)
    private static let once = Tool.lines(passphrase)

    private func path(_ tool: Tool, _ name: String = "backup.kc") -> String {
        tool.home.appendingPathComponent(name).path
    }

    @discardableResult
    private func export(_ tool: Tool, _ arguments: String...) throws -> Tool.Outcome {
        let outcome = try tool.start(Tool.executable, ["export", path(tool)] + arguments, input: Self.twice)
        #expect(outcome.status == 0)
        return outcome
    }

    /// The files beside the export, whatever became of it.
    private func parts(_ tool: Tool) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: tool.home.path).filter { $0.contains(".part-") }
    }

    // MARK: There and back

    @Test("What was exported comes back in another keychain, byte for byte, with its group, reference and dates")
    func roundTrip() throws {
        try withTool { (tool) throws in
            try tool.asApp(["app"], .add(account: .data(Data([0, 0xff])), secret: "from a program"))
            try tool.asApp(["other app"], .add(secret: nil))
            try tool.run(
                "add", "internet", "--server", "h", "--account", "a", "--sync", "--accessible", "always",
                input: Data([0, 0xff, 0x0a]))
            try tool.add("gone", accessible: "always-this-device-only")
            let before = try tool.run("find", "--json").objects.filter {
                $0["accessible"] as? String != "always-this-device-only"
            }
            #expect(before.count == 3)
            let said = try export(tool)
            #expect(said.text == "exported 3 items to \(path(tool)); left out: 1 only for this device\n")
            #expect(said.errors.isEmpty)
            try withTool { (other) throws in
                let imported = try other.run("import", path(tool), input: Self.once)
                #expect(imported.status == 0)
                #expect(imported.text == "3 items in the export: 3 added\n")
                let after = try other.run("find", "--json").objects
                #expect(NSArray(array: after) == NSArray(array: before))
                #expect(try other.run("get", "generic", "--group", "app").text == "from a program")
                #expect(try other.run("get", "internet").output == Data([0, 0xff, 0x0a]))
                #expect(try other.run("get", "generic", "--group", "other app").status == 1)
                #expect(try other.run("import", path(tool), input: Self.once).text.contains("3 here already"))
                #expect(try other.run("doctor").status == 0)
            }
        }
    }

    @Test(
        "Any bytes survive an export and an import",
        arguments: [0, 1, 27, 4_096, 65_536, 1_000_003, 20_000_000])
    func anyBytes(count: Int) throws {
        let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        let secret = try source.read(upToCount: count) ?? Data()
        try #require(secret.count == count)
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", "--allow-empty", input: secret)
            try export(tool)
            try withTool { (other) throws in
                #expect(try other.run("import", path(tool), input: Self.once).status == 0)
                #expect(try other.run("get", "generic").output == secret)
            }
        }
    }

    @Test("One group alone, and JSON that says what was done")
    func groupAndJSON() throws {
        try withTool { (tool) throws in
            try tool.asApp(["one"], .add())
            try tool.asApp(["two"], .add())
            try tool.asApp(["two"], .add(account: .text("asks"), flags: .userPresence))
            let said = try export(tool, "--group", "two", "--json").object
            #expect(said["exported"] as? Int == 1)
            #expect(said["file"] as? String == path(tool))
            let leftOut = said["leftOut"] as? [String: Int]
            #expect(leftOut == ["thisDeviceOnly": 0, "authentication": 1, "token": 0, "damaged": 0])
            try tool.run("delete", "generic", "--all", "--group", "two")
            let imported = try tool.run("import", path(tool), "--json", input: Self.once).object
            #expect(imported["added"] as? Int == 1)
            for key in ["replaced", "kept", "unchanged", "refused"] { #expect(imported[key] as? Int == 0) }
            #expect(imported["items"] as? Int == 1)
            #expect(imported["dryRun"] as? Bool == false)
            #expect(imported["leftOutOfExport"] as? [String: Int] == leftOut)
        }
    }

    @Test("A group that has nothing is not found, and an export without an item in it is told")
    func emptyGroup() throws {
        try withTool { (tool) throws in
            try tool.asApp(["keychain"], .add())
            try tool.asApp(["asking"], .add(account: .text("asks"), flags: .userPresence))
            let mistyped = try tool.run("export", path(tool), "--group", "kechain", input: Self.twice)
            #expect(mistyped.status == 44 && mistyped.errors.contains("kechain"))
            #expect(!FileManager.default.fileExists(atPath: path(tool)))
            let empty = try export(tool, "--group", "asking")
            #expect(empty.status == 0 && empty.errors.contains("there is no item in this export"))
        }
    }

    @Test("An export goes to standard output as it would to a file, and nothing else does")
    func standardOutput() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let outcome = try tool.run("export", "-", input: Self.twice)
            #expect(outcome.status == 0)
            #expect(outcome.errors == "exported 1 item\n")
            try outcome.output.write(to: URL(fileURLWithPath: path(tool)))
            #expect(try tool.run("import", path(tool), input: Self.once).text.contains("1 here already"))
            #expect(try tool.shell("printf 'p\\np\\n' | $K export - > /dev/full").status == 222)
            #expect(try tool.run("export", "-", "--json", input: Self.twice).status == 64)
        }
    }

    @Test("Rows that do not open are told of, loudly, and the rest is exported")
    func damagedRow() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            try tool.add("b")
            try tool.edit("UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 1")
            let outcome = try export(tool)
            #expect(outcome.text.contains("exported 1 item"))
            #expect(outcome.text.contains("1 that does not open"))
            #expect(outcome.errors.contains("1 item could not be exported"))
        }
    }

    // MARK: The file

    @Test("The file is for its owner alone, and nothing of an item is in it to be read")
    func fileMode() throws {
        try withTool { (tool) throws in
            try tool.run(
                "add", "generic", "--service", "needle-service", "--account", "needle-account", "--label",
                "needle-label", "--group", "needle-group", input: Data("needle-secret".utf8))
            #expect(
                try tool.shell("umask 0; printf '\(Self.passphrase)\\n%.0s' 1 2 | $K export \(path(tool))").status == 0)
            let attributes = try FileManager.default.attributesOfItem(atPath: path(tool))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path(tool)))
            for needle in ["needle", Self.passphrase] { #expect(bytes.range(of: Data(needle.utf8)) == nil) }
            #expect(try parts(tool).isEmpty)
        }
    }

    @Test("A file that is there is replaced only with --force, and what is no file never")
    func existingFile() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let file = URL(fileURLWithPath: path(tool))
            try Data("precious".utf8).write(to: file)
            let refused = try tool.run("export", path(tool), input: Self.twice)
            #expect(refused.status == 45)
            #expect(refused.errors.contains("--force"))
            #expect(try Data(contentsOf: file) == Data("precious".utf8))
            try export(tool, "--force")
            #expect(try tool.run("import", path(tool), "--dry-run", input: Self.once).status == 0)
            #expect(try tool.run("export", tool.store.path, "--force", input: Self.twice).status == 45)
            let link = path(tool, "link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path(tool, "nowhere"))
            #expect(try tool.run("export", link, input: Self.twice).status == 45)
            #expect(try tool.run("export", link, "--force", input: Self.twice).status == 45)
            #expect(try parts(tool).isEmpty)
        }
    }

    @Test("An export that fails leaves nothing behind")
    func failure() throws {
        try withTool { (tool) throws in
            #expect(try tool.run("export", path(tool), input: Self.twice).status == 44)
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data(count: 300_000))
            #expect(try tool.run("export", path(tool, "no/such/directory"), input: Self.twice).status == 220)
            #expect(try tool.run("export", path(tool), input: Tool.lines("one", "two")).status == 206)
            #expect(try tool.run("export", path(tool), input: Tool.lines("", "")).status == 206)
            #expect(try tool.run("export", path(tool), input: Data([0xff, 0x0a, 0xff, 0x0a])).status == 93)
            // As a disk that is full does, in the midst of the file.
            let limited = "trap '' XFSZ; ulimit -f 100; printf 'p\\np\\n' | $K export \(path(tool))"
            #expect(try tool.shell(limited).status == 220)
            #expect(try parts(tool).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: path(tool)))
        }
    }

    @Test("A signal ends an export, and the part that was written is removed", arguments: ["TERM", "HUP"])
    func interrupted(signal: String) throws {
        try withTool { (tool) throws in
            try tool.add("a")
            // It reads a pipe to its end. It is stopped before that end comes, so that the signal is there before the key of
            // the passphrase is made; the signal is heeded when the first part is written.
            let pipe = path(tool, "pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            var outcome: Tool.Outcome?
            let line =
                "$K export \(path(tool)) < \(pipe) & exec 3> \(pipe); sleep 0.3; printf 'p\\np\\n' >&3; kill -STOP $!; "
                + "exec 3>&-; kill -\(signal) $!; kill -CONT $!; wait $!"
            try withoutHeldSignals { outcome = try tool.shell(line) }
            #expect(outcome?.status == (signal == "TERM" ? 143 : 129))
            #expect(try parts(tool).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: path(tool)))
        }
    }

    @Test("A file whose name is as long as one can be is written, and one that is larger than the limit leaves nothing")
    func limits() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let long = path(tool, String(repeating: "x", count: 255))
            #expect(try tool.run("export", long, input: Tool.lines("p", "p")).status == 0)
            #expect(try tool.run("import", long, input: Tool.lines("p")).status == 0)
            let outcome = try tool.shell("ulimit -f 0; printf 'p\\np\\n' | $K export \(path(tool)) 2>/dev/null")
            #expect(outcome.status != 0)
            #expect(try parts(tool).isEmpty && !FileManager.default.fileExists(atPath: path(tool)))
        }
    }

    // MARK: Importing

    @Test("A wrong passphrase ends with 51, and what is no passphrase as it should")
    func wrongPassphrase() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            try export(tool)
            try withTool { (other) throws in
                let outcome = try other.run("import", path(tool), input: Tool.lines("wrong"))
                #expect(outcome.status == 51)
                #expect(!outcome.errors.contains("wrong"))
                #expect(try other.run("import", path(tool), input: Data()).status == 206)
                #expect(try other.run("import", path(tool), input: Self.twice).status == 206)
                #expect(!FileManager.default.fileExists(atPath: other.store.path))
            }
        }
    }

    @Test("A half of an export, and one with a changed byte, change nothing")
    func halfWritten() throws {
        try withTool { (tool) throws in
            for number in 0..<4 {
                try tool.run(
                    "add", "generic", "--service", "s", "--account", "\(number)", input: Data(count: 100_000))
            }
            try export(tool)
            let whole = try Data(contentsOf: URL(fileURLWithPath: path(tool)))
            var changed = whole
            changed[whole.count - 1] ^= 1
            let bad = path(tool, "bad.kc")
            try withTool { (other) throws in
                for bytes in [whole.prefix(whole.count / 2), whole.prefix(83 + 65_552), whole.dropLast(), changed] {
                    try Data(bytes).write(to: URL(fileURLWithPath: bad))
                    let outcome = try other.run("import", bad, input: Self.once)
                    #expect(outcome.status == 93)
                    #expect(outcome.output.isEmpty)
                }
                #expect(!FileManager.default.fileExists(atPath: other.store.path))
            }
        }
    }

    @Test("What is no export, no file or not there is refused with its status, before a passphrase is read")
    func refusedFiles() throws {
        try withTool { (tool) throws in
            try Data("hello".utf8).write(to: URL(fileURLWithPath: path(tool)))
            let foreign = try tool.run("import", path(tool))
            #expect(foreign.status == 206)
            #expect(foreign.errors.contains("no export of a keychain"))
            #expect(try tool.run("import", path(tool, "missing")).status == 220)
            #expect(try tool.run("import", tool.home.path).status == 206)
            #expect(try tool.run("import", "-").status == 64)
            let pipe = path(tool, "pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let outcome = try tool.run("import", pipe)
            #expect(outcome.status == 206)
            #expect(outcome.errors.contains("Save it to a file first"))
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("A dry run says what the import does, and makes nothing")
    func dryRun() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            try tool.add("b")
            try export(tool)
            try withTool { (other) throws in
                let foretold = try other.run("import", path(tool), "--dry-run", "--json", input: Self.once)
                #expect(foretold.object["added"] as? Int == 2)
                #expect(foretold.object["dryRun"] as? Bool == true)
                #expect(!FileManager.default.fileExists(atPath: other.store.path))
            }
            try tool.run("delete", "generic", "--service", "s", "--account", "a")
            let text = try tool.run("import", path(tool), "--dry-run", input: Self.once).text
            #expect(text == "2 items in the export: 1 added, 1 here already (dry run: nothing was changed)\n")
            #expect(try tool.run("find", "--json").objects.count == 1)
            #expect(try tool.run("import", path(tool), input: Self.once).text.contains("1 added, 1 here already"))
        }
    }

    @Test("A later change here is kept, an earlier one is replaced")
    func merge() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            try export(tool)
            try tool.run("update", "generic", "--account", "a", input: Data("later".utf8))
            #expect(try tool.run("import", path(tool), input: Self.once).text.contains("1 not taken"))
            #expect(try tool.run("get", "generic").text == "later")
            try tool.start(Tool.executable, ["export", path(tool, "second")], input: Self.twice)
            try tool.run("delete", "generic", "--service", "s", "--account", "a")
            #expect(try tool.run("import", path(tool), input: Self.once).text.contains("1 added"))
            let imported = try tool.run("import", path(tool, "second"), input: Self.once)
            #expect(imported.text.contains("1 replaced what was older"))
            #expect(try tool.run("get", "generic").text == "later")
        }
    }

    // MARK: The lock, and a person

    @Test("A locked keychain is neither exported nor imported into, and ends with 36", .enabled(if: Tool.sharesKeys))
    func locked() throws {
        try withPasscode { (tool) throws in
            try tool.add("a")
            try export(tool)
            try tool.run("lock")
            #expect(try tool.run("export", path(tool, "other"), input: Self.twice).status == 36)
            #expect(try tool.run("import", path(tool), input: Self.once).status == 36)
            #expect(!FileManager.default.fileExists(atPath: path(tool, "other")))
            #expect(try parts(tool).isEmpty)
            #expect(try tool.unlock().status == 0)
            #expect(try tool.run("import", path(tool), input: Self.once).text.contains("1 here already"))
        }
    }

    @Test("At a terminal the passphrase is asked for and not shown, and how far it has come is")
    func prompts() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            let session = try TerminalSession(tool, "export", path(tool))
            try session.answer("Passphrase of the export: ", Self.passphrase)
            try session.answer("Passphrase of the export again: ", Self.passphrase)
            #expect(try session.end() == 0)
            #expect(session.transcript.contains("Exporting"))
            #expect(!session.transcript.contains(Self.passphrase))
            let back = try TerminalSession(tool, "import", path(tool))
            try back.answer("Passphrase of the export: ", Self.passphrase)
            #expect(try back.end() == 0)
            #expect(back.transcript.contains("Importing"))
            #expect(!back.transcript.contains(Self.passphrase))
        }
    }
}
