import Foundation
import Glibc
import KeychainTestSupport
import Testing

/// Programs that are started by somebody who means them harm: what the library takes and what it leaves.
@Suite struct SurroundingsTests {
    /// How a program ended: 0, or 10 with an error of the keychain; else it crashed.
    private func end(_ launch: String, _ host: KeychainHost, opens: Int32 = 0) throws -> Int32 {
        try withKeychain(host) { keychain in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", launch]
            process.environment = ["KEYCHAIN_TEST_PROGRAM": HelperProcess.executable.path, "PATH": "/usr/bin:/bin"]
            process.environment?["KEYCHAIN_TEST_SURROUNDINGS"] =
                host == .embedded ? "engine \(keychain.directory.path)/new" : "socket \(keychain.directory.path)/socket"
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
    }

    private static let hosts = [KeychainHost.embedded, .daemon, .system]

    @Test("No descriptor of the library is one of the three that print and read", arguments: hosts)
    func closedDescriptors(host: KeychainHost) throws {
        for closed in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"] {
            #expect(try end("exec \"$KEYCHAIN_TEST_PROGRAM\" \(closed)", host) == 0, "\(closed)")
        }
    }

    @Test("A program without a single argument, and without its own name, works", arguments: hosts)
    func noArguments(host: KeychainHost) throws {
        let launch = """
            exec python3 -c '
            import ctypes, os
            libc = ctypes.CDLL(None)
            libc.execve(os.environb[b"KEYCHAIN_TEST_PROGRAM"], (ctypes.c_char_p * 1)(None),
                        ctypes.c_void_p.in_dll(libc, "environ"))'
            """
        #expect(try end(launch, host) == 0)
    }

    @Test("Ignored signals change nothing", arguments: hosts)
    func ignoredSignals(host: KeychainHost) throws {
        let launch = "trap '' PIPE CHLD HUP INT TERM ALRM USR1 USR2 XFSZ URG IO; exec \"$KEYCHAIN_TEST_PROGRAM\""
        #expect(try end(launch, host) == 0)
    }

    @Test("Small limits are errors, and no program ends by one of its own checks", arguments: hosts)
    func smallLimits(host: KeychainHost) throws {
        let limits = ["-n 4", "-n 8", "-n 12", "-l 0", "-s 256", "-c 0", "-f 0", "-t 60", "-p 1"]
        for limit in limits {
            let ended = try end("trap '' XFSZ; ulimit \(limit) && exec \"$KEYCHAIN_TEST_PROGRAM\"", host)
            #expect([0, 10].contains(ended), "ulimit \(limit): \(ended)")
        }
    }
}
