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
            try tool.setCheapPasscode()
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

    @Test(
        "A program with another effective user keeps its keys to itself",
        .enabled(if: geteuid() == 0, "only root can be two users at once"))
    func otherRealUser() throws {
        try withTool { (tool) throws in
            try tool.setCheapPasscode()
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
}
