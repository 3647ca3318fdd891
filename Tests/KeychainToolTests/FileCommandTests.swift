import DataProtection
import DataProtectionCore
import Foundation
import KeychainClient
import KeychainTestSupport
import SwiftKeychain
import Testing

@testable import KeychainTool

/// The commands `file …` on single files.
@Suite struct FileCommandTests {
    // MARK: There and back

    @Test("A file is protected in its place, and comes back as it was")
    func roundTrip() throws {
        try withTool { (tool) throws in
            let content = Data("the needle\u{0}in the hay\n".utf8)
            let file = try tool.file("notes", content)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
            #expect(try tool.run("file", "protect", file).text == "1 file protected (22 bytes)\n")
            let stored = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(stored.range(of: Data("needle".utf8)) == nil)
            #expect(try tool.run("file", "cat", file).output == content)
            #expect(try tool.mode(file) == 0o640)
            #expect(try tool.run("file", "unprotect", file).text == "1 file unprotected (22 bytes)\n")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == content)
            #expect(try tool.mode(file) == 0o640)
        }
    }

    @Test(
        "Below a directory of root's that may not be read, an ordinary user's files are written and read",
        .enabled(if: geteuid() == 0, "only root can be two users at once"))
    func belowUnreadableDirectory() throws {
        try withTool { (tool) throws in
            try FileManager.default.createDirectory(
                atPath: tool.path("above/own/sub"), withIntermediateDirectories: true)
            let script = """
                cd "$HOME" && chmod 711 . above && chown -R 65431:65431 above/own && cd above/own &&
                export XDG_DATA_HOME="$PWD/data" XDG_STATE_HOME="$PWD/state" TMPDIR="$PWD" &&
                exec setpriv --reuid=65431 --regid=65431 --clear-groups sh -ec '
                    printf content | "$K" file write sub/file
                    "$K" file cat sub/file
                    "$K" file class --set complete .
                    printf later | "$K" file write sub/later
                    "$K" file class sub/later'
                """
            let outcome = try tool.shell(script)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text.hasPrefix("content"))
            #expect(outcome.text.contains("complete "))
        }
    }

    @Test("What is as it is to be is left, and so is a file of another class, with advice")
    func twice() throws {
        try withTool { (tool) throws in
            let file = try tool.file("notes")
            #expect(try tool.run("file", "unprotect", file).text == "0 files unprotected (0 bytes); 1 plain already\n")
            try tool.run("file", "protect", file)
            let stored = try Data(contentsOf: URL(fileURLWithPath: file))
            let again = try tool.run("file", "protect", "--class", "complete", file)
            #expect(again.status == 0)
            #expect(again.text == "0 files protected (0 bytes); 1 protected already\n")
            #expect(again.errors.contains("file class --set complete"))
            #expect(try tool.run("file", "protect", file, "--quiet").output.isEmpty)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == stored)
        }
    }

    @Test(
        "Any bytes go in and come out again, through files and pipes", arguments: [0, 1, 16_384, 4_194_305, 20_000_000])
    func anyBytes(count: Int) throws {
        try withTool { (tool) throws in
            let content = tool.bytes(count)
            let file = tool.path("file")
            #expect(try tool.run("file", "write", file, input: content).status == 0)
            #expect(try tool.run("file", "cat", file).output == content)
            try content.write(to: URL(fileURLWithPath: tool.path("plain")))
            let piped = try tool.shell(
                "cd '\(tool.home.path)' && cat plain | $K file write piped && $K file cat piped piped | cat > twice && "
                    + "cat plain plain | cmp - twice && cp plain again && $K file protect --quiet again && "
                    + "$K file cat again | cmp - plain")
            #expect(piped.status == 0, "\(piped.errors)")
        }
    }

    @Test("A final newline is content as any other byte", arguments: ["a", "a\n", "\n", "\r\n", "a\u{0}\n\n"])
    func finalNewline(text: String) throws {
        try withTool { (tool) throws in
            try tool.run("file", "write", tool.path("f"), input: Data(text.utf8))
            #expect(try tool.run("file", "cat", tool.path("f")).text == text)
        }
    }

    @Test("An empty input replaces no file, unless it is meant")
    func emptyInput() throws {
        try withTool { (tool) throws in
            let path = tool.path("f")
            try tool.run("file", "write", path, input: Data("content".utf8))
            let refused = try tool.shell("false | \"$K\" file write '\(path)'")
            #expect(refused.status == 206 && refused.errors.contains("--allow-empty"))
            #expect(try tool.run("file", "cat", path).text == "content")
            #expect(try tool.run("file", "write", "--allow-empty", path, input: Data()).status == 0)
            #expect(try tool.run("file", "cat", path).output.isEmpty)
            #expect(try tool.run("file", "write", tool.path("new"), input: Data()).status == 0)
        }
    }

    @Test("A reader that goes away early is no failure to talk about")
    func closedPipe() throws {
        try withTool { (tool) throws in
            try tool.run("file", "write", tool.path("f"), input: tool.bytes(3_000_000))
            let outcome = try tool.shell(
                "{ $K file cat '\(tool.path("f"))'; echo $? > '\(tool.path("status"))'; } | head -c 10")
            #expect(outcome.output.count == 10)
            #expect(outcome.errors.isEmpty)
            #expect(try String(contentsOfFile: tool.path("status"), encoding: .utf8) == "1\n")
            #expect(try tool.shell("$K file cat '\(tool.path("f"))' > /dev/full").status == 1)
        }
    }

    @Test("A file larger than the memory that the command may have goes through it, either way")
    func littleMemory() throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell(
                """
                cd '\(tool.home.path)' && echo | $K file write warm-up && ulimit -d 200000 &&
                head -c 400000000 /dev/zero | $K file write f --class complete && $K file cat f | cksum > a &&
                head -c 400000000 /dev/zero | cksum | cmp - a && $K file unprotect f --quiet && cksum < f | cmp - a &&
                $K file protect f --quiet
                """)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }

    // MARK: Writing

    @Test("A file that is replaced keeps its class, and one that must be new is not replaced")
    func replacing() throws {
        try withTool { (tool) throws in
            let file = tool.path("f")
            #expect(try tool.run("file", "write", file, "--class", "complete", input: Data("1".utf8)).status == 0)
            #expect(try tool.run("file", "write", file, input: Data("2".utf8)).status == 0)
            #expect(try tool.run("file", "class", file).text == "complete \(file)\n")
            let refused = try tool.run("file", "write", file, "--no-overwrite", input: Data("3".utf8))
            #expect(refused.status == 45)
            #expect(try tool.run("file", "cat", file).text == "2")
            #expect(try tool.run("file", "write", file, "--class", "none", input: Data("4".utf8)).status == 0)
            #expect(try tool.run("file", "class", file).text == "none \(file)\n")
            #expect(try tool.run("file", "write", tool.path("new"), "--no-overwrite").status == 0)
        }
    }

    @Test("Input that fails leaves the old file, and nothing beside it")
    func failedInput() throws {
        try withTool { (tool) throws in
            try tool.run("file", "write", tool.path("f"), input: Data("old".utf8))
            let outcome = try tool.shell("$K file write '\(tool.path("f"))' < /")
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("standard input"))
            #expect(try tool.run("file", "cat", tool.path("f")).text == "old")
            #expect(try tool.unfinished(in: tool.home.path).isEmpty)
        }
    }

    @Test("A link is followed, by every command, and stays a link")
    func links() throws {
        try withTool { (tool) throws in
            let file = try tool.file("file", Data("content".utf8))
            let link = tool.path("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")
            #expect(try tool.run("file", "protect", link).status == 0)
            #expect(try tool.run("file", "cat", link).text == "content")
            #expect(try tool.run("file", "write", link, input: Data("new".utf8)).status == 0)
            #expect(try tool.run("file", "cat", file).text == "new")
            #expect(try tool.run("file", "class", "--set", "none", link).status == 0)
            #expect(try tool.run("file", "unprotect", link).status == 0)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "new")
        }
    }

    @Test(
        "Any name that is text is a name", arguments: ["a b", "ä€\u{301}", "50%2f;?#~", "-", "line\nbreak", "..."])
    func names(name: String) throws {
        try withTool { (tool) throws in
            let outcome = try tool.start(
                URL(fileURLWithPath: "/bin/sh"),
                [
                    "-c",
                    "cd \"$HOME\" && printf x > \"$1\" && $K file protect \"$1\" && $K file cat \"./$1\" && "
                        + "$K file info \"$1\" && $K file unprotect \"$1\" && cat \"./$1\"",
                    "sh", name,
                ], input: Data())
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text.hasSuffix("x"))
        }
    }

    @Test("A path with a link and two dots means what the system says it means")
    func dots() throws {
        try withTool { (tool) throws in
            let outcome = try tool.shell(
                """
                cd "$HOME" && mkdir -p a/b && ln -s a/b l && echo inner > a/f && echo outer > f &&
                $K file protect --quiet l/../f && cat f && $K file cat l/../f
                """)
            #expect(outcome.text == "outer\ninner\n")
        }
    }

    // MARK: Refusals

    @Test("What cannot be done says why, and is a status of its own")
    func refusals() throws {
        try withTool { (tool) throws in
            let plain = try tool.file("plain")
            let (missing, directory, pipe) = (tool.path("missing"), tool.path("dir"), tool.path("pipe"))
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            #expect(mkfifo(pipe, 0o600) == 0)
            try tool.run("file", "write", tool.path("warm-up"))
            let all: [(words: [String], status: Int32, says: String)] = [
                (["protect", missing], 220, "No such file"), (["unprotect", missing], 220, "No such file"),
                (["class", missing], 220, "No such file"), (["cat", missing], 220, "No such file"),
                (["info", missing], 220, "No such file"),
                (["write", missing + "/f"], 220, "No such file"),
                (["protect", directory], 206, "--recursive"), (["unprotect", directory], 206, "--recursive"),
                (["cat", directory], 206, "it is a directory"), (["write", directory], 206, "it is a directory"),
                (["cat", plain], 206, "'keychainctl file protect'"),
                (["class", "--set", "complete", plain], 206, "'keychainctl file protect'"),
                (["class", "--remove", plain], 206, "no directory"),
                (["protect", pipe], 206, "it is a pipe"), (["cat", pipe], 206, "it is a pipe"),
                (["write", pipe], 206, "it is a pipe"), (["info", pipe], 206, "it is a pipe"),
                (["protect", "/dev/null"], 206, "it is a device"),
            ]
            for one in all {
                let outcome = try tool.run(words: ["file"] + one.words)
                #expect(outcome.status == one.status, "\(one.words): \(outcome.errors)")
                #expect(outcome.errors.contains(one.says), "\(one.words): \(outcome.errors)")
                #expect(outcome.errors.contains("keychainctl: /"), "\(one.words): \(outcome.errors)")
            }
            #expect(try String(contentsOfFile: plain, encoding: .utf8) == "content")
        }
    }

    @Test(
        "Mistakes on the command line end with 64",
        arguments: [
            ["protect"], ["protect", "--class", "secret", "f"], ["protect", ""], ["write"], ["write", "a", "b"],
            ["class", "--set", "complete", "--remove", "d"], ["class", "--recursive", "d"], ["cat"], ["info"], ["frob"],
        ])
    func usage(words: [String]) throws {
        try withTool { (tool) throws in
            let outcome = try tool.run(words: ["file"] + words)
            #expect(outcome.status == 64)
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
        }
    }

    @Test("A file with several names is refused, and the others are done")
    func hardLinks() throws {
        try withTool { (tool) throws in
            let (first, other) = (try tool.file("first"), try tool.file("other"))
            try FileManager.default.linkItem(atPath: first, toPath: tool.path("second"))
            let outcome = try tool.run("file", "protect", first, other)
            #expect(outcome.status == 206)
            #expect(outcome.errors.contains("2 names"))
            #expect(outcome.text == "1 file protected (7 bytes); 1 failed\n")
            #expect(try String(contentsOfFile: first, encoding: .utf8) == "content")
        }
    }

    @Test("Without a keychain nothing but protecting and writing makes one")
    func noStore() throws {
        try withTool { (tool) throws in
            let file = try tool.file("plain")
            for words in [
                ["class", file], ["info", file], ["unprotect", file], ["class", "--set", "complete", tool.home.path],
            ] {
                #expect(try tool.run(words: ["file"] + words).status == 0)
            }
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
            try withTool { (other) throws in
                let foreign = tool.path("foreign")
                #expect(try other.run("file", "write", foreign).status == 0)
                #expect(try tool.run("file", "cat", foreign).status == 44)
                let info = try tool.run("file", "info", "--json", foreign).objects.first
                #expect(info?["opens"] as? Bool == false)
                #expect(info?["isThisKeychain"] is NSNull)
            }
            #expect(!FileManager.default.fileExists(atPath: tool.store.path))
            #expect(try tool.run("file", "protect", file).status == 0)
            #expect(FileManager.default.fileExists(atPath: tool.store.path))
            #expect(try tool.run("file", "cat", tool.path("foreign")).status == 50)
        }
    }

    @Test("The files of a keychain itself are not touched")
    func storeFiles() throws {
        try withTool { (tool) throws in
            try tool.add("a")
            for path in [
                tool.database.path, tool.store.path, tool.deviceKey.path + "/device-key", tool.store.path + "/new",
            ] {
                #expect(try tool.run("file", "write", path + (path == tool.store.path ? "/x" : "")).status == 206)
            }
            for verb in ["protect", "unprotect", "info", "class", "cat"] {
                #expect(try tool.run("file", verb, tool.database.path).status == 206, "\(verb)")
            }
            // Another keychain is known by its files.
            try withTool { (other) throws in
                #expect(try other.run("file", "protect", "--recursive", tool.home.path).status == 0)
            }
            #expect(try tool.run("file", "protect", "--recursive", tool.home.path).status == 0)
            #expect(try tool.run("get", "generic", "--account", "a").text == "secret")
        }
    }

    @Test("A disk without the space for a second copy is said before anything is written")
    func fullDisk() throws {
        try withTool { (tool) throws in
            let file = try tool.file("large")
            var status = statvfs()
            #expect(statvfs(file, &status) == 0)
            let free = off_t(status.f_bavail) * off_t(status.f_frsize)
            guard truncate(file, free + 1 << 30) == 0 else { return }  // the file system has no files as large
            let outcome = try tool.run("file", "protect", file)
            #expect(outcome.status == 222)
            #expect(outcome.errors.contains("free"))
            #expect(try tool.unfinished(in: tool.home.path).isEmpty)
        }
    }

    @Test("A protected file that is all holes is not decrypted onto a disk that has no place for its content")
    func fullDiskForHoles() throws {
        try withTool { (tool) throws in
            let file = tool.home.appendingPathComponent("holes")
            var status = statvfs()
            #expect(statvfs(tool.home.path, &status) == 0)
            let length = UInt64(status.f_bavail) * UInt64(status.f_frsize) + 1 << 30
            var configuration = KeychainConfiguration()
            configuration.storeDirectory = tool.store
            configuration.deviceKeyDirectory = tool.deviceKey
            let handle = try ProtectedFiles(configuration).open(file, for: .writing, options: .create)
            try handle.truncate(to: length)
            try handle.close()
            let before = try Data(contentsOf: file)
            let outcome = try tool.run("file", "unprotect", file.path)
            #expect(outcome.status == 222 && outcome.errors.contains("free"))
            #expect(try tool.run("file", "unprotect", "--dry-run", file.path).text.contains("not enough"))
            #expect(try Data(contentsOf: file) == before)
            #expect(try tool.unfinished(in: tool.home.path).isEmpty)
        }
    }

    // MARK: Classes

    @Test("Each class has the name that sets it", arguments: FileProtection.allCases)
    func classes(protection: FileProtection) throws {
        try withTool { (tool) throws in
            let file = try tool.file("f")
            #expect(try tool.run("file", "protect", "--class", protection.name, file).status == 0)
            #expect(try tool.run("file", "class", file).text == "\(protection.name) \(file)\n")
            for other in FileProtection.allCases {
                #expect(try tool.run("file", "class", "--set", other.name, file).output.isEmpty)
                #expect(try tool.run("file", "class", file).text == "\(other.name) \(file)\n")
                #expect(try tool.run("file", "cat", file).text == "content")
            }
        }
    }

    @Test("A directory gives its class to new files until it is taken from it")
    func directoryClass() throws {
        try withTool { (tool) throws in
            let directory = tool.path("dir")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            #expect(try tool.run("file", "class", directory).text == "- \(directory)\n")
            guard try tool.run("file", "class", "--set", "complete", directory).status == 0 else {
                return  // no extended attributes here
            }
            #expect(try tool.run("file", "class", directory).text == "complete \(directory)\n")
            let (a, b) = (try tool.file("dir/a"), directory + "/b")
            try tool.run("file", "protect", a)
            try tool.run("file", "write", b)
            #expect(try tool.run("file", "class", a, b).text == "complete \(a)\ncomplete \(b)\n")
            #expect(try tool.run("file", "class", "--set", "none", "--recursive", directory).status == 0)
            #expect(try tool.run("file", "class", directory, a).text == "none \(directory)\nnone \(a)\n")
            #expect(try tool.run("file", "class", "--remove", directory).status == 0)
            #expect(try tool.run("file", "class", directory, a).text == "- \(directory)\nnone \(a)\n")
        }
    }

    @Test("Setting a class in a tree goes on after a plain file, which stays plain")
    func recursiveClass() throws {
        try withTool { (tool) throws in
            let (a, b) = (try tool.file("dir/a"), try tool.file("dir/b"))
            try tool.run("file", "protect", b)
            let outcome = try tool.run("file", "class", "--set", "complete", "--recursive", tool.path("dir"))
            #expect(outcome.status == 206)
            #expect(outcome.errors.contains("dir/a: it is a plain file"))
            #expect(try tool.run("file", "class", a, b).text == "- \(a)\ncomplete \(b)\n")
        }
    }

    // MARK: Damage

    @Test("A changed, cut or newer file is told apart, and gives not one byte")
    func damage() throws {
        try withTool { (tool) throws in
            let file = tool.path("f")
            try tool.run("file", "write", file, input: Data("content".utf8))
            let whole = try Data(contentsOf: URL(fileURLWithPath: file))
            func cat(_ status: Int32, _ change: (inout Data) -> Void) throws {
                var changed = whole
                change(&changed)
                try changed.write(to: URL(fileURLWithPath: file))
                let outcome = try tool.run("file", "cat", file)
                #expect(outcome.status == status, "\(outcome.errors)")
                #expect(outcome.output.isEmpty)
                #expect(try tool.run("file", "unprotect", file).status == status)
                #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == changed)
            }
            try cat(93) { $0[4098] ^= 1 }
            try cat(93) { $0.append(0) }
            try cat(93) { $0.removeLast() }
            try cat(93) { $0 = $0.prefix(100) }
            try cat(252) {
                $0[9] = 3
                $0[2048 + 9] = 3
            }
        }
    }

    @Test("JSON tells of each file what is known without opening it")
    func info() throws {
        try withTool { (tool) throws in
            let (file, plain) = (tool.path("f"), try tool.file("plain"))
            try tool.run("file", "write", file, "--class", "complete-unless-open", input: tool.bytes(20_000))
            let words = try tool.run("file", "info", plain).text
            #expect(words.hasSuffix("\nClass       - (a plain file; 'keychainctl file protect' encrypts it)\n"))
            let outcome = try tool.run("file", "info", "--json", file, plain, tool.temporaryDirectory.path)
            #expect(outcome.status == 0)
            let objects = outcome.objects
            #expect(objects.map { $0["kind"] as? String } == ["protected", "plain", "directory"])
            let info = try #require(objects.first)
            #expect(info["path"] as? String == file)
            #expect(info["class"] as? String == "complete-unless-open")
            #expect(info["length"] as? Int == 20_000)
            #expect(
                info["storedSize"] as? Int
                    == (try FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.intValue)
            #expect(info["opens"] as? Bool == true)
            #expect(info["refusal"] is NSNull && info["reason"] is NSNull)
            #expect(info["bothHeaders"] as? Bool == true)
            #expect(info["keychain"] as? String == (try tool.run("status", "--json").object["storeID"] as? String))
            #expect(info["isThisKeychain"] as? Bool == true)
            #expect(info["keyGeneration"] as? Int == 1)
            #expect(info["chunkSize"] as? Int == 16_384)
            #expect(UUID(uuidString: info["fileID"] as? String ?? "") != nil)
            #expect(objects[1]["class"] is NSNull && objects[1].count == 3)
            var stored = try Data(contentsOf: URL(fileURLWithPath: file))
            stored[20] ^= 1
            try stored.write(to: URL(fileURLWithPath: file))
            #expect(try tool.run("file", "info", "--json", file).objects.first?["bothHeaders"] as? Bool == false)
            #expect(try tool.run("file", "info", file).text.contains("one of the two is damaged"))
            #expect(try tool.run("file", "cat", file).status == 0)
        }
    }
}
