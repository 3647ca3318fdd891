import DataProtection
import DataProtectionCore
import Foundation
import Glibc
import KeychainClient
import KeychainSystem
import KeychainTestSupport
import SwiftKeychain
import Testing

@testable import KeychainTool

/// Paths as nobody expects them: a file is never taken for another one, and never for one in another directory.
@Suite struct HostilePathTests {
    /// Each joins with a slash before it to one character of Swift's.
    private static let combining = [
        "\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{093E}", "\u{1F3FB}", "\u{E0041}",
    ]

    @Test("A name that begins with a combining character is in its own directory", arguments: combining)
    func combiningCharacter(mark: String) throws {
        try withTool { (tool) throws in
            let script = """
                cd "$HOME" && mkdir -p outer/D && "$K" file class --set complete outer/D && chmod 500 outer &&
                echo s > "outer/D/${M}x" && echo n > outer/D/n &&
                "$K" file protect --recursive outer/D >&2 && printf w | "$K" file write "outer/D/${M}w" &&
                cd outer/D && printf b | "$K" file write "${M}b" && "$K" file class * && "$K" file cat "${M}b" >&2 &&
                cd ../.. && "$K" file backup "outer/D/../D/${M}x" --to copies >&2 && ls copies
                """
            var tool = tool
            tool.variables["M"] = mark
            let outcome = try tool.shell(script)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let lines = outcome.text.split(separator: "\n")
            #expect(lines.count == 5)
            #expect(lines.prefix(4).allSatisfy { $0.utf8.starts(with: "complete ".utf8) }, "\(outcome.text)")
            #expect(lines.last.map { FilePath.isSame(String($0), mark + "x") } == true)
            let stray = "printf j | \"$K\" file write \"$XDG_DATA_HOME/keychain/${M}x\""
            #expect(try tool.shell(stray).status == 206)
        }
    }

    @Test("A working directory whose name is no text, is too long or is gone leads to no other file")
    func workingDirectory() throws {
        try withTool { (tool) throws in
            let script = #"""
                import os, subprocess
                command, home = os.environ['K'], os.environ['HOME']
                def run(*words, data=b''):
                    done = subprocess.run([command, 'file', *words], input=data, capture_output=True)
                    return done.returncode
                def is_plain(path): return not open(path, 'rb').read().startswith(b'\x89KCF')
                os.chdir(home)
                bad, other = b'bad\xff', 'bad\ufffd'.encode()
                for directory in (bad, other):
                    os.mkdir(directory)
                    open(directory + b'/f', 'w').write('plain')
                subprocess.run([command, 'file', 'class', '--set', 'complete', '.'])
                os.chdir(bad)
                print(run('protect', 'f'), is_plain('f'), is_plain(b'../' + other + b'/f'))
                print(subprocess.run([command, 'file', 'class', 'f'], capture_output=True, text=True).stdout.strip())
                print(run('write', 'g', data=b'new'), os.path.exists('g'))
                os.chdir(home)
                for _ in range(30):
                    os.mkdir('d' * 200)
                    os.chdir('d' * 200)
                open('f', 'w').write('plain')
                print(run('protect', 'f'), is_plain('f'))
                os.chdir(home)
                subprocess.run(['rm', '-rf', 'd' * 200])
                os.mkdir('gone')
                os.chdir('gone')
                os.rmdir('../gone')
                print(run('write', 'lost', data=b'x') != 0, os.path.exists('/lost'))
                """#
            try Data(script.utf8).write(to: tool.home.appendingPathComponent("try.py"))
            let outcome = try tool.shell("python3 \"$HOME/try.py\"")
            #expect(outcome.text == "0 False True\ncomplete f\n0 True\n0 False\nTrue False\n", "\(outcome)")
        }
    }

    @Test("A keychain's own files are not replaced, whatever slashes and links lead to them")
    func ownFiles() throws {
        try withTool { (tool) throws in
            let file = try tool.file("notes")
            #expect(try tool.run("file", "protect", file).status == 0)
            let (store, key) = (tool.store.path, tool.deviceKey.appendingPathComponent("device-key").path)
            try FileManager.default.createSymbolicLink(
                atPath: tool.path("link"), withDestinationPath: store + "/new")
            let input = Data("junk".utf8)
            for path in ["\(store)/keybag", "\(store)/keybag/", "\(store)//keybag//", "\(store)/zz/", key, key + "/"] {
                #expect(try tool.run("file", "write", path, input: input).status == 206, "\(path)")
            }
            #expect(try tool.run("file", "write", tool.path("link"), input: input).status == 206)
            #expect(try tool.run("file", "cat", store + "/keychain.db/").status == 206)
            let passphrase = Data("a long passphrase\na long passphrase\n".utf8)
            for name in ["/keybag", "/new"] {
                for words in [["file", "backup-key", "--force", "--output"], ["export", "--force"]] {
                    #expect(try tool.run(words: words + [store + name], input: passphrase).status == 206, "\(words)")
                }
            }
            #expect(!FileManager.default.fileExists(atPath: store + "/new"))
            #expect(try tool.run("file", "cat", file).text == "content")
            // Nor is a file made of a name that only a directory can have.
            #expect(try tool.run("file", "write", tool.path("new") + "/", input: input).status == 206)
            #expect(!FileManager.default.fileExists(atPath: tool.path("new")))
        }
    }

    @Test("Two names that look the same are two files")
    func sameLooks() throws {
        try withTool { (tool) throws in
            let script = #"""
                cd "$HOME" && mkdir src && C=$(printf 'caf\303\251') D=$(printf 'cafe\314\201') &&
                printf one > "src/$C" && printf two > "src/$D" && "$K" file protect --quiet src/* &&
                "$K" file backup src/* --to copies >&2 && ls copies | wc -l &&
                "$K" file cat "copies/$C" "copies/$D"
                """#
            let outcome = try tool.shell(script)
            #expect(outcome.text == "2\nonetwo", "\(outcome)")
        }
    }

    @Test("Nothing outside of a tree is changed if a directory in it is exchanged for a link meanwhile")
    func exchanged() throws {
        try withTool { (tool) throws in
            for name in ["shared/sub/a", "shared/sub/z", "victim/z"] { try tool.file(name) }
            try tool.run("file", "protect", "--recursive", tool.path("shared"), tool.path("victim"))
            var configuration = KeychainConfiguration()
            (configuration.storeDirectory, configuration.deviceKeyDirectory) = (tool.store, tool.deviceKey)
            let files = ProtectedFiles(configuration)
            func exchange() throws {
                try FileManager.default.moveItem(atPath: tool.path("shared/sub"), toPath: tool.path("shared/sub2"))
                try FileManager.default.createSymbolicLink(
                    atPath: tool.path("shared/sub"), withDestinationPath: tool.path("victim"))
            }
            var found: [(URL, FileNumber?)] = []
            var isExchanged = false
            let walk = TreeWalk(paths: [tool.path("shared")], directories: .entered, storeFiles: StoreFiles([]))
            try walk.visit { finding in
                switch finding {
                case .file(let file):
                    found.append((URL(fileURLWithPath: file.path), file.found))
                    if !isExchanged { try exchange() }
                    isExchanged = true
                case .directory(let path, let number): found.append((URL(fileURLWithPath: path), number))
                default: break
                }
            }
            let victim = try #require(FileNumber(tool.path("victim/z")))
            #expect(!found.contains { $0.1 == victim })
            let below = found.filter { $0.0.path.contains("/sub") }
            #expect(below.count >= 2)
            for (url, number) in below {
                let files = files.meaning(number)
                let isDirectory = number == FileNumber(tool.path("shared/sub2"))
                #expect(throws: DataProtectionError.self) { try files.setProtection(.always, of: url) }
                if isDirectory { continue }
                // The path leads to a file of the same name.
                let exchanged = tool.home.appendingPathComponent("shared/sub/z")
                let error = #expect(throws: DataProtectionError.self) { try files.unprotect(exchanged) }
                #expect(error?.code == .changedMeanwhile)
            }
            #expect(try files.protection(of: tool.home.appendingPathComponent("victim/z")) != nil)
            #expect(try files.protection(of: tool.home.appendingPathComponent("victim")) == nil)
        }
    }

    @Test("Where a directory cannot be finished, every other file is copied, and what is above it is finished")
    func unfinishedDirectory() throws {
        try withTool { (tool) throws in
            let script = #"""
                cd "$HOME" && mkdir -p src/b && "$K" file class --set complete src &&
                for f in a b/x c; do printf s > src/$f; done && "$K" file protect --recursive --quiet src &&
                chmod 777 "$HOME" && chown -R 65431:65431 "$HOME" && chmod 300 src/b && HOME="$HOME" \
                setpriv --reuid=65431 --regid=65431 --clear-groups sh -c '
                    "$K" file backup src --to B >&2; echo $?; ls B/src; "$K" file class B/src'
                """#
            guard geteuid() == 0 else { return }
            let outcome = try tool.shell(script)
            #expect(outcome.text == "220\na\nb\nc\ncomplete B/src\n", "\(outcome)")
        }
    }

    @Test("A file that is damaged, or of another keychain, is replaced by none that is easier to read")
    func damagedFormer() throws {
        try withTool { (tool) throws in
            // In both copies of the header, the class with a checksum that fits, which anyone can make.
            for (name, edit) in [
                ("damaged", "b[s + 300] ^= 1"), ("of another keychain", "b[s + 32] ^= 1; b[s + 12] = 4; sum(s)"),
                ("forged", "b[s + 12] = 4; sum(s)"),
            ] {
                let file = try tool.file(name)
                try tool.run("file", "protect", "--class", "complete", file)
                let script = """
                    import hashlib, os
                    b = bytearray(open(os.environ['F'], 'rb').read())
                    def sum(s): b[s + 496:s + 512] = hashlib.sha256(b[s:s + 496]).digest()[:16]
                    for s in (0, 2048): \(edit)
                    open(os.environ['F'], 'wb').write(b)
                    """
                try Data(script.utf8).write(to: tool.home.appendingPathComponent("edit.py"))
                var editing = tool
                editing.variables["F"] = file
                #expect(try editing.shell("python3 \"$HOME/edit.py\"").status == 0)
                #expect(try tool.run("file", "cat", file).status != 0)
                #expect(try tool.run("file", "write", file, input: Data("new".utf8)).status == 0)
                #expect(try tool.run("file", "class", file).text == "complete \(file)\n", "\(name)")
            }
        }
    }

    @Test(
        "A restored directory gives its class, unless what is above it gives a stronger one", arguments: [true, false])
    func restoredClass(isStronger: Bool) throws {
        try withTool { (tool) throws in
            let usual = "complete-until-first-user-authentication"
            let (mine, above) = isStronger ? ("complete", "none") : (usual, "complete")
            let script = #"""
                cd "$HOME" && mkdir src to real && ln -s real link && "$K" file class --set $MINE src &&
                printf s > src/f && "$K" file protect --recursive --quiet src && "$K" file backup --quiet src --to link && ls real &&
                printf 'a long passphrase\na long passphrase\n' | "$K" file backup-key --output key >&2 &&
                export XDG_DATA_HOME="$HOME/other" XDG_STATE_HOME="$HOME/others" &&
                "$K" file class --set $ABOVE to && printf 'a long passphrase\n' |
                "$K" file restore --quiet real/src --key key --to to >&2 && "$K" file class to/src
                """#
            var tool = tool
            tool.variables.merge(["MINE": mine, "ABOVE": above]) { $1 }
            let outcome = try tool.shell(script)
            #expect(outcome.text == "src\ncomplete to/src\n", "\(outcome)")
        }
    }

    @Test("What a damaged file claims to hold is not saved where there is no room for it")
    func salvageOfHoles() throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a")
            var configuration = KeychainConfiguration()
            (configuration.storeDirectory, configuration.deviceKeyDirectory) = (tool.store, tool.deviceKey)
            let url = tool.home.appendingPathComponent("holes")
            let handle = try ProtectedFiles(configuration).open(url, for: .writing, options: .create)
            try handle.write(Data("first".utf8), at: 0)
            try handle.write(Data("last".utf8), at: 1 << 50)
            try handle.close()
            var bytes = try Data(contentsOf: url)
            // In the first chunk.
            bytes[4_100] ^= 1
            try bytes.write(to: url)
            let outcome = try tool.run("file", "fsck", "--salvage", tool.path("saved"), url.path)
            #expect(outcome.status == 93 || outcome.status == 222)
            #expect(outcome.errors.contains("free"), "\(outcome)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.path("saved")).isEmpty)
        }
    }

    @Test("A directory's class is inherited however long the path is, and however deep")
    func longPaths() throws {
        try withTool { (tool) throws in
            let script = #"""
                import os, subprocess, sys
                sys.setrecursionlimit(5000)
                command, home = os.environ['K'], os.environ['HOME']
                def make(top, name, levels):
                    os.chdir(home)
                    os.mkdir(top)
                    subprocess.run([command, 'file', 'class', '--set', 'complete', top])
                    path = home + '/' + top
                    while levels > 0 and len(path) + len(name) + 10 < 4090:
                        path += '/' + name
                        levels -= 1
                    os.makedirs(path)
                    subprocess.run([command, 'file', 'write', path + '/f'], input=b's')
                    done = subprocess.run([command, 'file', 'class', path + '/f'], capture_output=True, text=True)
                    print(done.stdout.split(' ')[0])
                make('long', 'x' * 200, 100)
                make('deep', 'd', 1000)
                """#
            try Data(script.utf8).write(to: tool.home.appendingPathComponent("try.py"))
            let outcome = try tool.shell("python3 \"$HOME/try.py\"")
            #expect(outcome.text == "complete\ncomplete\n", "\(outcome)")
        }
    }

    @Test("A relative place of a store is in the working directory, whatever that is called")
    func relativeStore() throws {
        try withTool { (tool) throws in
            let script = #"""
                import os, subprocess
                def run(*words, data=b''):
                    return subprocess.run([os.environ['K'], *words, '--store', 'st', '--device-key', 'dk'], input=data,
                        capture_output=True)
                os.chdir(os.environ['HOME'])
                for name in (b'n\xff', b'n\xfe'):
                    os.mkdir(name)
                    os.chdir(name)
                    print(run('get', 'generic', '--service', 's').returncode)
                    print(run('add', 'generic', '--service', 's', '--account', 'a', data=name[1:]).returncode)
                    print(run('get', 'generic', '--service', 's').stdout == name[1:], sorted(os.listdir('.')))
                    os.chdir('..')
                """#
            try Data(script.utf8).write(to: tool.home.appendingPathComponent("try.py"))
            let outcome = try tool.shell("python3 \"$HOME/try.py\"")
            let each = "44\n0\nTrue ['dk', 'st']\n"
            #expect(outcome.text == each + each, "\(outcome)")
        }
    }

    @Test(
        "Nothing of a file that is being decrypted stays, if its directory is moved or the run is ended",
        arguments: [
            ("plain", "move"), ("plain", "INT"), ("$(printf 'n\\377')", "TERM"), ("$(printf 'n\\377')", "move"),
        ])
    func movedOrEnded(directory: String, event: String) throws {
        try withTool { (tool) throws in
            let script = #"""
                cd "$HOME" && mkdir -p d/tree && cd d && mv tree "\#(directory)" && cd "\#(directory)" && mkdir in &&
                head -c 60000000 /dev/zero | tr '\0' x > in/f && "$K" file protect --quiet in/f || exit 1
                "$K" file unprotect --recursive in >/dev/null 2>&1 & P=$!
                while kill -0 $P 2>/dev/null && [ -z "$(ls -A in 2>/dev/null | grep keychain-new)" ]; do :; done
                if [ \#(event) = move ]; then mv in moved; mkdir in; else kill -\#(event) $P; fi
                wait $P
                find "$HOME/d" -name '.keychain-new-*' | wc -l
                """#
            #expect(try tool.shell(script).text == "0\n")
        }
    }

    @Test("A restore that is killed and run again leaves directories with their class")
    func killedRestore() throws {
        try withTool { (tool) throws in
            let script = #"""
                cd "$HOME" && mkdir -p src/p && "$K" file class --set complete src/p &&
                head -c 60000000 /dev/zero > src/p/f && "$K" file protect --quiet src/p/f &&
                "$K" file backup --quiet src --to copy &&
                printf 'a long passphrase\na long passphrase\n' | "$K" file backup-key --output key >&2 &&
                export XDG_DATA_HOME="$HOME/other" XDG_STATE_HOME="$HOME/others"
                restore() {
                    printf 'a long passphrase\n' | "$K" file restore --quiet copy/src --key key --to to 2>/dev/null
                }
                restore & P=$!
                while kill -0 $P 2>/dev/null && [ -z "$(ls -A to/src/p 2>/dev/null | grep keychain-new)" ]; do :; done
                pkill -KILL -P $P 2>/dev/null
                wait $P; restore; "$K" file class to/src/p to/src/p/f
                """#
            #expect(try tool.shell(script).text == "complete to/src/p\ncomplete to/src/p/f\n")
        }
    }
}
