import Foundation
import Testing

/// Programs with another keyring than the user's own.
@Suite struct NamespaceTests {
    private static let canMakeNamespaces: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["--user", "--map-root-user", "true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(
        "After a lock a program in another user namespace, which has a keyring of its own, gets nothing",
        .enabled(if: canMakeNamespaces, "the system forbids user namespaces"))
    func otherNamespace() throws {
        try withTool { (tool) throws in
            try tool.setPasscode()
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("secret".utf8))
            // One shell in the namespace: it unlocks, the lock comes from outside, and it reads again.
            let outcome = try tool.shell(
                """
                printf '%s\\n' '\(Tool.passcode)' >"$HOME/passcode"
                mkfifo "$HOME/locked" "$HOME/unlocked"
                unshare --user --map-root-user sh -c '
                    "$K" unlock <"$HOME/passcode" >/dev/null || exit 90
                    test "$("$K" get generic)" = secret || exit 91
                    echo >"$HOME/unlocked"; read -r _ <"$HOME/locked"
                    "$K" get generic; echo "get: $?"
                    "$K" unlock <"$HOME/passcode" >/dev/null && "$K" get generic; echo " again: $?"
                ' &
                read -r _ <"$HOME/unlocked"
                "$K" lock --now || exit 92
                echo >"$HOME/locked"
                wait $!
                """)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text == "get: 36\nsecret again: 0\n")
        }
    }

    /// As an ordinary user, since root may have thousands of keys.
    @Test(
        "A keyring that is full leaves a passcode set, and says so; removed stores make room, and doctor names the others",
        .enabled(if: geteuid() == 0 && Tool.sharesKeys, "only root can be another user"))
    func fullKeyring() throws {
        try withTool { (tool) throws in
            let script = #"""
                import ctypes, os, subprocess, sys, time
                libc = ctypes.CDLL(None, use_errno=True)
                def add(name, size):
                    return libc.syscall(248, b'user', name.encode(), bytes(size), ctypes.c_size_t(size), -4)
                def clear():
                    libc.syscall(250, 7, -4)
                def fill():
                    # The kernel gives back what removed keys took when it has time: full is what stays full.
                    refusals = 0
                    while refusals < 20:
                        refusals = 0 if add('filler' + os.urandom(8).hex(), 60) > 0 else refusals + 1
                        if refusals: time.sleep(0.03)
                def run(*words, lines=''):
                    return subprocess.run([os.environ['K'], *words], input=lines, capture_output=True, text=True)
                def store(name):
                    os.environ['KEYCHAIN_HOME'] = os.environ['HOME'] + '/' + name
                clear()
                # With no room but for a few stores: those that come and go leave it free.
                fill()
                names = [line.split()[0] for line in open('/proc/keys') if 'filler' in line]
                for name in names[:12]: libc.syscall(250, 9, int(name, 16), -4)
                for number in range(10):
                    store(f'gone{number}')
                    done = run('passcode', 'set', lines='p\np\n')
                    if done.returncode or 'takes no keys' in done.stderr: sys.exit(f'{number}: {done.stderr}')
                    subprocess.run(['rm', '-rf', os.environ['KEYCHAIN_HOME']])
                clear()
                store('holder')
                run('passcode', 'set', lines='p\np\n')
                store('kept')
                run('add', 'generic', '--service', 's', '--account', 'a', lines='secret')
                fill()
                done = run('passcode', 'set', lines='p\np\n')
                print(done.returncode, 'takes no keys' in done.stderr)
                done = run('unlock', lines='p\n')
                print(done.returncode, '/proc/key-users' in done.stderr)
                words = ' '.join(run('doctor').stdout.split())
                print('/holder hold them' in words, "'keychainctl lock --store'" in words)
                clear()
                print(run('unlock', lines='p\n').returncode, run('get', 'generic').stdout.strip())
                clear()
                """#
            try Data(script.utf8).write(to: tool.home.appendingPathComponent("try.py"))
            let outcome = try tool.shell(
                #"chown -R 65433:65433 "$HOME"; setpriv --reuid=65433 --regid=65433 --clear-groups python3 "$HOME/try.py""#
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text == "0 True\n53 True\nTrue True\n0 secret\n", "\(outcome.text) \(outcome.errors)")
        }
    }

    @Test(
        "In a time namespace one waits as long after wrong passcodes as in any other",
        .enabled(if: canMakeNamespaces, "the system forbids user namespaces"))
    func otherTime() throws {
        try withTool { (tool) throws in
            try tool.setPasscode()
            try tool.run("lock", "--now")
            func unlock(_ passcode: String, _ offset: Int) throws -> Tool.Outcome {
                try tool.shell(
                    "printf '%s\\n' '\(passcode)' | "
                        + "unshare --user --map-root-user --time --boottime \(offset) $K unlock")
            }
            for number in 1...4 { try tool.unlock("wrong \(number)") }
            // One that seems to be of long ago, for those outside, and is not.
            #expect(try unlock("wrong 5", -500).status == 51)
            for outcome in [try tool.unlock(), try unlock(Tool.passcode, 36_000), try unlock(Tool.passcode, -500)] {
                let isShort = ["seconds", "another 1 minute"].contains { outcome.errors.contains($0) }
                #expect(outcome.status == 51 && isShort, "\(outcome.errors)")
            }
        }
    }

    @Test(
        "A program with another effective user keeps its keys to itself",
        .enabled(if: geteuid() == 0, "only root can be two users at once"))
    func otherRealUser() throws {
        try withTool { (tool) throws in
            try tool.setPasscode()
            let places = ["--store", tool.store.path, "--device-key", tool.deviceKey.path]
            func keyPlace(_ words: [String]) throws -> String? {
                let outcome = try tool.start(
                    URL(fileURLWithPath: words[0]),
                    words.dropFirst() + [Tool.executable.path, "status", "--json"] + places, input: Data())
                #expect(outcome.status == 0, "\(outcome.errors)")
                return (outcome.object["lock"] as? [String: Any])?["keys"] as? String
            }
            let change = "import os, sys; os.setresuid(65534, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
            let asTwo = ["/usr/bin/python3", "-c", change]
            #expect(try keyPlace(["/usr/bin/env"]) == "keyring")
            #expect(try keyPlace(asTwo) == "process")
        }
    }

    @Test(
        "A program with another effective user makes its keychain in directories that the real one may not enter",
        .enabled(if: geteuid() == 0, "only root can be two users at once"))
    func makesStoreAsAnother() throws {
        try withTool { (tool) throws in
            let change = "import os, sys; os.setresuid(65534, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
            let words = [
                "add", "one", "--account", "me", "--store", tool.store.path, "--device-key", tool.deviceKey.path,
            ]
            let outcome = try tool.start(
                URL(fileURLWithPath: "/usr/bin/python3"), ["-c", change, Tool.executable.path] + words,
                input: Data("secret".utf8))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try tool.run("get", "one").text == "secret")
        }
    }

    /// What the kernel calls secure execution (getauxval(3), AT_SECURE), as for every set-user-ID program.
    @Test(
        "A program with another effective user is not led by the environment",
        .enabled(if: geteuid() == 0, "only root can be two users at once"))
    func environmentOfAnother() throws {
        try withTool { (tool) throws in
            var led = tool
            led.variables = ["KEYCHAIN_HOME": tool.store.path, "KEYCHAIN_HOST": "unix:\(tool.home.path)/socket"]
            let change = "import os, sys; os.setresuid(65534, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
            func places(_ words: [String]) throws -> String {
                let outcome = try led.start(
                    URL(fileURLWithPath: words[0]), words.dropFirst() + [Tool.executable.path, "status"], input: Data())
                return outcome.text + outcome.errors
            }
            #expect(try places(["/usr/bin/env"]).contains(tool.home.lastPathComponent))
            #expect(try !places(["/usr/bin/python3", "-c", change]).contains(tool.home.lastPathComponent))
        }
    }

    @Test(
        "Without /proc a command stores nothing, and says why with 64",
        .enabled(if: geteuid() == 0, "only root can hide it"))
    func withoutProc() throws {
        try withTool { (tool) throws in
            let outcome = try tool.start(
                URL(fileURLWithPath: "/usr/bin/unshare"),
                [
                    "--mount", "/bin/sh", "-c", "mount -t tmpfs none /proc && exec \"$0\" add mail --account me",
                    Tool.executable.path,
                ], input: Data("pw".utf8))
            #expect(outcome.status == 64)
            #expect(outcome.errors.contains("/proc"), "\(outcome.errors)")
        }
    }
}
