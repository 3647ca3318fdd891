import Foundation
import KeychainModel
import KeychainRun
import Testing

/// Output of commands that print their secrets.
@Suite struct RunMaskingTests {
    private static let secret = "s3cret/+value ~\"x\""

    @Test(
        "A secret is masked in files and pipes, as it is and in the forms that programs write",
        arguments: [
            ("printf %s \"$S\"", "<masked>"),
            ("printf 'a%sb%s' \"$S\" \"$S\"", "a<masked>b<masked>"),
            ("printf '%s\\n' \"$S\" >&2", "<masked>\n"),
            ("printf %s \"$S\" | base64", "<masked>\n"),
            ("printf %s \"$S\" | od -An -tx1 | tr -d ' \\n'", "<masked>"),
            ("printf %s \"$S\" | od -An -tx1 | tr -d ' \\n' | tr a-f A-F", "<masked>"),
            ("python3 -c 'import os, urllib.parse as u; print(u.quote(os.environ[\"S\"], safe=\"\"))'", "<masked>\n"),
            ("python3 -c 'import json, os; print(json.dumps([os.environ[\"S\"]]))'", "[\"<masked>\"]\n"),
            (
                "python3 -c 'import base64, os; print(base64.urlsafe_b64encode(os.environ[\"S\"].encode()).decode())'",
                "<masked>\n"
            ),
        ])
    func forms(script: String, output: String) throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let outcome = try tool.run("run", "--", "sh", "-c", script)
            #expect(outcome.text + outcome.errors == output)
            let piped = try tool.shell("$K run -- sh -c '\(script.replacing("'", with: "'\\''"))' 2>&1 | cat")
            #expect(piped.text == output)
        }
    }

    @Test(
        "Programs that escape more, or less, are masked too",
        arguments: [
            ("json.dumps(s)", "pässwörter-ge\u{8}\u{1b}", "\"<masked>\""),
            ("json.dumps(s, ensure_ascii=False)", "pässwörter-ge\u{8}\u{1b}", "\"<masked>\""),
            ("json.dumps(s).replace('/', chr(92) + '/')", "s3cret/with/slashes 🔑", "\"<masked>\""),
            ("u.quote(s)", "s3cret/with+chars! x", "<masked>"),
            ("u.quote_plus(s)", "s3cret/with+chars! x", "<masked>"),
            ("u.quote(s, safe=chr(33) + chr(39) + '()*')", "Ab1!cD2/eF3:(gH4)~*'", "<masked>"),
            ("u.quote(s, safe='').lower()", "äöüß1234", "<masked>"),
        ])
    func escapes(expression: String, secret: String, output: String) throws {
        try withSecrets(["a": secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let program = "import json, os, urllib.parse as u; s = os.environ['S']; print(\(expression), end='')"
            #expect(try tool.run("run", "--", "python3", "-c", program).text == output)
        }
    }

    @Test("Base64 of a longer text has the secret masked, wherever it begins", arguments: ["", "u", "us", "use"])
    func withinBase64(before: String) throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let outcome = try tool.run("run", "--", "sh", "-c", "printf '%s:%s:x' \(before) \"$S\" | base64 -w0")
            let shown = outcome.text.replacing("<masked>", with: "")
            #expect(outcome.text.contains("<masked>"))
            // What is left of it is a digit at each side, which has bits of its neighbour too.
            #expect(shown.count <= ((before.utf8.count + 1 + 2 + 2) * 8 + 5) / 6 + 4)
        }
    }

    @Test("A secret is masked when it comes in pieces, each written by itself")
    func pieces() throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let program = """
                import os
                for byte in ("before " + os.environ["S"] + " after").encode(): os.write(1, bytes([byte]))
                """
            #expect(try tool.run("run", "--", "python3", "-c", program).text == "before <masked> after")
        }
    }

    @Test("Output of several megabytes arrives whole and in order, from both streams")
    func volume() throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let script = "i=0; while [ $i -lt 20000 ]; do echo \"$i $S\"; echo $i >&2; i=$((i+1)); done"
            let outcome = try tool.run("run", "--", "sh", "-c", script)
            #expect(outcome.text == (0..<20000).map { "\($0) <masked>\n" }.joined())
            #expect(outcome.errors == (0..<20000).map { "\($0)\n" }.joined())
            let together = try tool.shell("$K run -- sh -c '\(script)' 2>&1")
            #expect(together.text == (0..<20000).map { "\($0) <masked>\n\($0)\n" }.joined())
        }
    }

    @Test(
        "A zero byte ends no masking, whatever stands before it",
        arguments: [
            ("printf '\\0'; printenv S", "\0<masked>\n"), ("printenv S; printf '\\0'", "<masked>\n\0"),
            ("printf 'a\\0%s\\0b' \"$S\"", "a\0<masked>\0b"),
            ("find . -prune -print0; printf %s \"$S\"", ".\0<masked>"),
        ])
    func zeroBytes(script: String, output: String) throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let outcome = try tool.run("run", "--", "sh", "-c", script)
            #expect(outcome.text == output)
            #expect(outcome.errors.contains("masked in output that is not text"))
        }
    }

    @Test("Binary output arrives byte for byte, and a secret in it is masked, which is told")
    func binary() throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) })
            let file = tool.home.appendingPathComponent("binary")
            try (bytes + bytes).write(to: file)
            let plain = try tool.run("run", "--", "cat", file.path)
            #expect(plain.output == bytes + bytes && plain.errors.isEmpty)
            try (bytes + Data(Self.secret.utf8) + bytes).write(to: file)
            let masked = try tool.run("run", "--", "cat", file.path)
            #expect(masked.output == bytes + Data("<masked>".utf8) + bytes)
            #expect(masked.errors.contains("masked in output that is not text"))
            let whole = try tool.run("run", "--no-masking", "--", "cat", file.path)
            #expect(whole.output == bytes + Data(Self.secret.utf8) + bytes)
        }
    }

    @Test("Values of fewer than eight bytes are not masked, and with --no-masking none is")
    func exceptions() throws {
        try withSecrets(["a": "seven77", "b": Self.secret]) { (tool) throws in
            var tool = tool
            (tool.variables["S"], tool.variables["T"]) = ("keychain://generic/a/ada", "keychain://generic/b/ada")
            #expect(try tool.run("run", "--", "printenv", "S", "T").text == "seven77\n<masked>\n")
            #expect(try tool.run("run", "--no-masking", "--", "printenv", "T").text == Self.secret + "\n")
        }
    }

    @Test("A secret that was stored with a line end is masked without it")
    func lineEnd() throws {
        try withSecrets(["a": "hunter22hunter22\n"]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            #expect(try tool.run("run", "--", "sh", "-c", "printf '<%s>' $S").text == "<<masked>>")
        }
    }

    @Test("Files in memory, standard input and a netrc are masked too")
    func otherWays() throws {
        try withSecrets(["a": "secret-of-file", "b": "secret-of-input"]) { (tool) throws in
            var tool = tool
            try tool.run(
                "add", "internet", "--server", "h", "--account", "ada", input: Data("secret-of-netrc".utf8))
            (tool.variables["S"], tool.variables["T"]) = ("keychain://generic/a/ada", "keychain://generic/b/ada")
            let run = ["run", "--file", "S", "--stdin", "T", "--netrc", "--", "sh", "-c", "cat $S; cat; cat $NETRC"]
            #expect(try tool.run(words: run).text == "<masked><masked>machine h login ada password <masked>\n")
        }
    }

    @Test("A prompt without a line end is passed on before the command reads its answer")
    func prompt() throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            // The answer comes when the prompt is there, and not before.
            let program = """
                import os, subprocess
                command = [os.environ["K"], "run", "--", "sh", "-c", 'printf "Go on? "; read answer; echo "$answer $S"']
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
                assert process.stdout.read(7) == b"Go on? "
                process.stdin.write(b"yes\\n")
                print(process.stdout.read().decode(), end="")
                """
            try Data(program.utf8).write(to: tool.home.appendingPathComponent("ask.py"))
            #expect(try tool.shell("python3 $HOME/ask.py").text == "yes <masked>\n")
        }
    }

    @Test("When nobody reads any more the command ends as it would by itself")
    func closedPipe() throws {
        try withSecrets(["a": Self.secret]) { (tool) throws in
            var tool = tool
            tool.variables["S"] = "keychain://generic/a/ada"
            let line = "{ $K run -- yes; echo $? >&2; } | head -n 1"
            let outcome = try tool.start(URL(fileURLWithPath: "/bin/sh"), ["-c", line], input: Data())
            #expect(outcome.text == "y\n")
            #expect(outcome.errors == "141\n")
        }
    }

    // MARK: The search itself

    private func masked(_ patterns: [String], _ chunks: [String]) -> [String] {
        let mask = OutputMask(PatternTable(patterns.map { SecretBytes(copying: Data($0.utf8)) }))
        var output: [String] = []
        for chunk in chunks {
            var passed = Data()
            Array(chunk.utf8).withUnsafeBytes { mask.add($0) { passed += Data($0) } }
            output.append(String(decoding: passed, as: UTF8.self))
        }
        var rest = Data()
        mask.end { rest += Data($0) }
        return output + [String(decoding: rest, as: UTF8.self)]
    }

    @Test("Only what may begin a secret is held, and it is passed on when it does not")
    func holding() {
        #expect(masked(["abcabd"], ["x", "ab", "c", "abc", "x", "abc"]) == ["x", "", "", "abc", "abcx", "", "abc"])
        #expect(masked(["abcabd"], ["zabcabcabd!"]) == ["zabc<masked>!", ""])
    }

    @Test("Secrets that overlap, or are parts of others, leave nothing of themselves")
    func overlaps() {
        #expect(masked(["abcd", "cdef"], ["xabcdefx"]).joined() == "x<masked>x")
        #expect(masked(["abcd", "abcdefgh"], ["abcdefgx", "abcdefgh"]).joined() == "<masked>efgx<masked>")
        #expect(masked(["abcdefgh", "cde"], ["abcdefgx"]).joined() == "ab<masked>fgx")
        #expect(masked(["abcdefgh", "cde"], ["abcd", "e", "f", "g", "h"]).joined() == "<masked>")
        #expect(masked(["aa"], ["aaaaa"]).joined() == "<masked>")
        #expect(masked(["ab"], ["abab"]).joined() == "<masked><masked>")
        #expect(masked(["ab", "bcdef"], ["ab", "", "c", "x"]).joined() == "<masked>cx")
    }
}
