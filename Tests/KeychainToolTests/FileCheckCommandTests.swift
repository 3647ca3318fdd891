import Foundation
import Glibc
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// The command `file fsck`.
@Suite struct FileCheckCommandTests {
    private func damage(_ path: String, at offset: UInt64) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: offset)
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: Data([byte ^ 1]))
        try handle.close()
    }

    private func zeroing(_ content: Data, _ range: Range<Int>) -> Data {
        var content = content
        content.replaceSubrange(range, with: Data(count: range.count))
        return content
    }

    @Test("What is intact is only counted, and plain files in a tree are; one that is named fails, once")
    func intact() throws {
        try withTool { (tool) throws in
            try tool.file("tree/a", tool.bytes(100_000))
            try tool.file("tree/b/c", tool.bytes(10))
            try tool.run("file", "protect", "--recursive", tool.path("tree"))
            let plain = try tool.file("tree/plain")
            let outcome = try tool.run("file", "fsck", "--recursive", tool.path("tree"))
            #expect(outcome.status == 0 && outcome.errors.isEmpty)
            #expect(outcome.text == "2 protected files checked: all intact; 1 plain file\n")
            let quiet = try tool.run("file", "fsck", "--quiet", "--recursive", tool.path("tree"))
            #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
            let json = try tool.run("file", "fsck", "--json", "--recursive", tool.path("tree")).object
            #expect(json["checked"] as? Int == 2 && json["intact"] as? Int == 2 && json["plain"] as? Int == 1)
            #expect((json["files"] as? [Any])?.isEmpty == true)
            #expect(try tool.run("file", "fsck", plain).status == 206)
            let twice = try tool.run("file", "fsck", "--json", "--recursive", tool.path("tree"), plain)
            #expect(twice.status == 206 && twice.object["failed"] as? Int == 1 && twice.object["plain"] as? Int == 1)
            #expect(try tool.run("file", "fsck", tool.path("tree")).status == 206)
            #expect(try tool.run("file", "fsck", tool.path("none")).status == 220)
        }
    }

    @Test("Damage is told with the bytes concerned, and a tree of damaged files is saved in its shape")
    func salvage() throws {
        try withTool { (tool) throws in
            let content = tool.bytes(100_000)
            for name in ["tree/a", "tree/b/c", "tree/b/d"] { try tool.file(name, content) }
            try tool.run("file", "protect", "--class", "complete", "--recursive", tool.path("tree"))
            try damage(tool.path("tree/a"), at: 4096 + 16_384 + 7)
            try damage(tool.path("tree/b/c"), at: 100)
            let saved = tool.path("saved")
            let words = ["file", "fsck", "--recursive", tool.path("tree")]
            let outcome = try tool.run(words: words + ["--salvage", saved])
            #expect(outcome.status == 93)
            #expect(outcome.text.contains("\(tool.path("tree/a")): damaged, class complete, 83616 of 100000 bytes"))
            #expect(outcome.text.contains("  bytes 16384 to 32767 do not open: "))
            #expect(outcome.text.contains("Saved to \(saved)/tree/a, with zeros at the bytes 16384 to 32767.\n"))
            #expect(outcome.text.contains("Saved to \(saved)/tree/b/c, all of it.\n"))
            #expect(outcome.text.hasSuffix("3 protected files checked: 1 intact, 2 damaged; 2 salvaged\n"))
            #expect(try tool.run("file", "cat", saved + "/tree/a").output == zeroing(content, 16_384..<32_768))
            #expect(try tool.run("file", "cat", saved + "/tree/b/c").output == content)
            #expect(try tool.run("file", "class", saved + "/tree/a").text == "complete \(saved)/tree/a\n")
            #expect(!FileManager.default.fileExists(atPath: saved + "/tree/b/d"))
            // Nothing that is there is replaced.
            let again = try tool.run(words: words + ["--salvage", saved])
            #expect(again.status == 93 || again.status == 45)
            #expect(again.errors.contains("File exists"))
            // The damage is told of all the same.
            #expect(again.text.contains("\(tool.path("tree/a")): damaged, class complete, 83616 of 100000 bytes"))
            #expect(again.text.contains("3 protected files checked: 1 intact, 2 damaged; 2 could not be checked"))
            #expect(try tool.run("file", "cat", saved + "/tree/a").output == zeroing(content, 16_384..<32_768))
            // A single file goes to the directory itself, whichever way it is named.
            let single = try tool.shell(
                "cd '\(tool.path("tree"))' && $K file fsck --salvage ../one a; $K file fsck --salvage ../two ./a; "
                    + "$K file fsck --salvage ../three --recursive .; cat ../one/a ../two/a ../three/tree/a >/dev/null")
            #expect(single.status == 0, "\(single.errors)")
        }
    }

    @Test("A copy of a header is mended, and then nothing is wrong")
    func repair() throws {
        try withTool { (tool) throws in
            let file = try tool.file("notes", tool.bytes(50_000))
            try tool.run("file", "protect", file)
            let stored = try Data(contentsOf: URL(fileURLWithPath: file))
            try damage(file, at: 2048 + 200)
            let outcome = try tool.run("file", "fsck", "--repair", "--salvage", tool.path("saved"), file)
            #expect(outcome.status == 0)
            #expect(outcome.text.contains("Repaired"))
            #expect(outcome.text.hasSuffix("1 protected file checked: 0 intact, 1 repaired, 0 damaged\n"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == stored)
            #expect(!FileManager.default.fileExists(atPath: tool.path("saved")))
            #expect(try tool.run("file", "fsck", file).text == "1 protected file checked: intact\n")
        }
    }

    @Test("The keys of --json")
    func json() throws {
        try withTool { (tool) throws in
            let file = try tool.file("notes", tool.bytes(50_000))
            try tool.run("file", "protect", "--class", "none", file)
            try damage(file, at: 4096)
            let outcome = try tool.run("file", "fsck", "--json", "--salvage", tool.path("saved"), file)
            #expect(outcome.status == 93)
            #expect(
                Set(outcome.object.keys) == [
                    "checked", "intact", "repaired", "damaged", "salvaged", "plain", "skipped", "failed", "files",
                ])
            let report = try #require((outcome.object["files"] as? [[String: Any]])?.first)
            #expect(report["path"] as? String == file && report["state"] as? String == "damaged")
            #expect(report["class"] as? String == "none" && report["length"] as? Int == 50_000)
            #expect(report["readable"] as? Int == 50_000 - 16_384)
            #expect(report["salvaged"] as? String == tool.path("saved") + "/notes")
            #expect(report["lost"] as? [[String: Int]] == [["offset": 0, "count": 16_384]])
            let finding = try #require((report["findings"] as? [[String: Any]])?.first)
            #expect(finding["kind"] as? String == "chunk" && finding["damage"] as? Bool == true)
            #expect(finding["losesContent"] as? Bool == true)
            #expect(finding["offset"] as? Int == 0 && finding["count"] as? Int == 16_384)
            #expect(finding["text"] is String && finding["advice"] is String)
        }
    }

    @Test("What is locked is not checked, counts as a failure, and is never called damaged")
    func locked() throws {
        try withPasscode { (tool) throws in
            for (name, fileClass) in [("tree/a", "complete"), ("tree/d", "none")] {
                try tool.file(name, tool.bytes(50_000))
                try tool.run("file", "protect", "--class", fileClass, tool.path(name))
            }
            try damage(tool.path("tree/a"), at: 5000)
            #expect(try tool.run("lock").status == 0)
            let outcome = try tool.run("file", "fsck", "--recursive", tool.path("tree"))
            #expect(outcome.status == 36)
            #expect(outcome.errors.hasPrefix("keychainctl: \(tool.path("tree/a")): not checked: "))
            #expect(outcome.errors.contains("keychainctl unlock"))
            #expect(outcome.text == "1 protected file checked: intact; 1 could not be checked\n")
        }
    }

    @Test("At a terminal it shows how far it has come")
    func progress() throws {
        try withTool { (tool) throws in
            try tool.file("tree/a", tool.bytes(3_000_000))
            try tool.run("file", "protect", "--recursive", tool.path("tree"))
            let watched = try TerminalSession(tool, "file", "fsck", "--recursive", tool.path("tree"))
            #expect(try watched.end() == 0)
            #expect(watched.transcript.contains("Checking  [") && watched.transcript.contains("1/1 files"))
        }
    }
}
