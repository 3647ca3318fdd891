import CKeychainLinux
import Foundation
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainDaemon

@Suite struct ListeningSocketTests {
    /// What keeps a daemon from listening there.
    private func refusal(at url: URL) -> String? {
        do throws(KeychainError) {
            _ = try ListeningSocket(at: url)
            return nil
        } catch {
            return error.code == .notAvailable ? error.message : "\(error.code)"
        }
    }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test("The socket and its directory are made for the user alone, and the socket is removed at the end")
    func made() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("keychain/socket")
            let socket = try ListeningSocket(at: url)
            #expect(!socket.isActivated)
            #expect(try mode(url) == 0o600)
            #expect(try mode(url.deletingLastPathComponent()) == 0o700)
            _ = try TestClient(url.path)
            socket.remove()
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test("Whoever is connecting when the socket is removed is told at once")
    func removed() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("socket")
            let other = directory.appendingPathComponent("other")
            let socket = try ListeningSocket(at: url)
            #expect(link(url.path, other.path) == 0)
            socket.remove()
            #expect(throws: POSIXError(.ECONNREFUSED)) { try TestClient(other.path) }
        }
    }

    @Test("A socket that a killed daemon left behind is replaced")
    func stale() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("socket")
            var number: Int32 = -1
            #expect(ckeychain_listen(url.path, &number) == 0)
            close(number)
            let socket = try ListeningSocket(at: url)
            _ = try TestClient(url.path)
            socket.remove()
        }
    }

    @Test("A socket where somebody listens stays his, whether he locked it or not")
    func taken() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("socket")
            let first = try ListeningSocket(at: url)
            #expect(refusal(at: url)?.contains("another keychaind") == true)
            _ = try TestClient(url.path)
            first.remove()
        }
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("socket")
            var number: Int32 = -1
            #expect(ckeychain_listen(url.path, &number) == 0)
            defer { close(number) }
            #expect(refusal(at: url)?.contains("a program listens") == true)
            _ = try TestClient(url.path)
        }
    }

    @Test("Another file in the socket's place is left alone, also at the end")
    func otherFile() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("socket")
            try Data("mine".utf8).write(to: url)
            #expect(refusal(at: url)?.contains("is no socket") == true)
            try FileManager.default.removeItem(at: url)
            let socket = try ListeningSocket(at: url)
            try FileManager.default.removeItem(at: url)
            try Data("mine".utf8).write(to: url)
            socket.remove()
            #expect(try Data(contentsOf: url) == Data("mine".utf8))
        }
    }

    @Test("A directory that is a link, open to others or not there is refused")
    func directories() throws {
        try withTemporaryDirectory { directory in
            let real = directory.appendingPathComponent("real")
            try FileManager.default.createDirectory(at: real, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                at: directory.appendingPathComponent("link"), withDestinationURL: real)
            #expect(
                refusal(at: directory.appendingPathComponent("link/socket"))?.contains("no other may write") == true)
            chmod(real.path, 0o777)
            #expect(refusal(at: real.appendingPathComponent("socket"))?.contains("no other may write") == true)
            #expect(refusal(at: directory.appendingPathComponent("a/b/socket"))?.contains("XDG_RUNTIME_DIR") == true)
            #expect(!FileManager.default.fileExists(atPath: real.appendingPathComponent("socket").path))
        }
    }

    @Test("A path that is too long is named")
    func long() throws {
        try withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent(String(repeating: "s", count: 100))
            #expect(refusal(at: url)?.contains("107 bytes") == true)
        }
    }

    @Test("What systemd hands to another process is not this one's")
    func otherProcess() throws {
        let variables = ["LISTEN_PID": String(getpid() + 1), "LISTEN_FDS": "1"]
        #expect(try ListeningSocket.activated(Environment(variables: variables)) == nil)
        #expect(try ListeningSocket.activated(Environment(variables: [:])) == nil)
    }

    @Test("More than one socket is refused")
    func several() throws {
        let environment = Environment(variables: ["LISTEN_PID": String(getpid()), "LISTEN_FDS": "2"])
        #expect(throws: KeychainError.self) { try ListeningSocket.activated(environment) }
    }
}
