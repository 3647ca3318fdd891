import Foundation
import Testing

/// A home directory on a disk that is full: one of memory, in a mount namespace of the test's own.
@Suite struct FullDiskTests {
    private static let full =
        "the disk is full, or a quota or a limit on the size of files is reached; nothing was changed"

    private static let canMount: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Runs lines of shell with small items s1 to s6, one of 1 MB named big and one of 900 kB behind it. `fill` leaves no
    /// byte on the disk. `say` prints a status and what the command said.
    private func withFullDisk(_ lines: String) throws -> [String] {
        var lines = lines
        lines = """
            export HOME=/mnt XDG_DATA_HOME=/mnt/data XDG_STATE_HOME=/mnt/state
            mount -t tmpfs -o size=6m none /mnt || exit 90
            for name in s1 s2 s3 s4 s5 s6; do printf "secret of $name" | "$K" add generic --service $name --account a || exit 91; done
            head -c 1000000 /dev/zero | "$K" add generic --service big --account a || exit 92
            head -c 900000 /dev/zero | "$K" add generic --service behind --account a || exit 92
            store=$XDG_DATA_HOME/keychain
            fill() {
                cat /dev/zero >/mnt/filler-$1 2>/mnt/full
                test $(df --output=avail /mnt | tail -1) = 0 || exit 93
            }
            say() { said=$("$@" 2>&1); echo "$?: $said"; }
            \(lines)
            """
        var said: [String] = []
        try withTool { (tool) throws in
            let script = tool.home.appendingPathComponent("script")
            try lines.write(to: script, atomically: true, encoding: .utf8)
            let outcome = try tool.shell("K=\"$K\" unshare --user --map-root-user --mount sh \"$HOME/script\"")
            try #require(outcome.status == 0, "\(outcome.status): \(outcome.errors)")
            said = outcome.text.split(separator: "\n").map { String($0) }
        }
        return said
    }

    @Test(
        "A full disk keeps nobody from reading and from deleting, and what is deleted is space again",
        .enabled(if: canMount, "the system forbids namespaces"), arguments: [false, true])
    func deletion(hasNoLogIndex: Bool) throws {
        let said = try withFullDisk(
            """
            \(hasNoLogIndex ? "rm -f $store/keychain.db-*" : "")
            fill 1
            say "$K" get generic --service s1
            echo new >/dev/shm/$$; say "$K" update generic --service s1 --secret </dev/shm/$$; rm /dev/shm/$$
            say "$K" delete generic --service s2
            fill 2
            say "$K" delete generic --service big
            test $(stat -c %s $store/keychain.db) -lt 1100000 && test $(df --output=avail /mnt | tail -1) -gt 500
            echo "space: $?"
            say "$K" delete generic --service s3
            say "$K" get generic --service s6
            say "$K" doctor --json | grep -c '"healthy" *: *true'
            ls $store | grep -c '^reserve$'
            """)
        #expect(
            said == [
                "0: secret of s1", "222: keychainctl: \(Self.full)", "0: 1 item deleted",
                "0: 1 item deleted", "space: 0", "0: 1 item deleted", "0: secret of s6", "1", "1",
            ])
    }

    @Test(
        "Where even the space that is kept for it is gone, a deletion says that nothing was changed",
        .enabled(if: canMount, "the system forbids namespaces"))
    func withoutReserve() throws {
        let said = try withFullDisk(
            """
            rm $store/reserve; mkdir $store/reserve
            fill 1
            say "$K" delete generic --service s2
            rm /mnt/filler-1
            say "$K" get generic --service s2
            """)
        #expect(said == ["222: keychainctl: \(Self.full)", "0: secret of s2"])
    }
}
