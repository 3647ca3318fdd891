import Dispatch
import Foundation
import KeychainNIOSSL
import KeychainSecurity
import KeychainX509
import NIOCore
import NIOPosix
import NIOSSL
import Testing
import X509

@Suite("TLS with keys of the keychain", .timeLimit(.minutes(1)))
struct TLSTests {
    static let versions = ["-tls1_2", "-tls1_3"]

    @Test("OpenSSL shakes hands with a server", arguments: TestKey.allCases, versions)
    func handshake(_ kind: TestKey, _ version: String) async throws {
        let openssl = try await connect(kind.make(), kind, [version])
        #expect(openssl.status == 0 && openssl.output.contains("good morning"), "\(openssl.output)")
        #expect(openssl.output.contains("Verification: OK"), "\(openssl.output)")
    }

    @Test(
        "An RSA key signs in each way that TLS has for it",
        arguments: ["RSA-PSS+SHA256", "RSA-PSS+SHA384", "RSA-PSS+SHA512", "RSA+SHA256", "RSA+SHA384", "RSA+SHA512"])
    func algorithms(_ name: String) async throws {
        let openssl = try await connect(TestKey.rsa.make(), .rsa, ["-tls1_2", "-sigalgs", name])
        #expect(openssl.status == 0 && openssl.output.contains("good morning"), "\(openssl.output)")
        let digest = "Hash used: \(name.suffix(6))"
        #expect(openssl.output.contains(digest), "\(openssl.output)")
    }

    @Test("The RSA key exchange of old is refused")
    func keyExchange() async throws {
        let openssl = try await connect(
            TestKey.rsa.make(), .rsa, ["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
            cipherSuites: [.TLS_RSA_WITH_AES_128_GCM_SHA256])
        #expect(openssl.status != 0 && !openssl.output.contains("good morning"), "\(openssl.output)")
    }

    @Test("A key that was deleted in the engine fails the handshake, and the server stays")
    func deleted() async throws {
        let tag = UUID().uuidString
        let key = try TestKey.engine.make(tag: tag)
        let place = try Place()
        let (server, file) = try await server(key, .engine, place)
        #expect(try await OpenSSL.connect(server.port, file).status == 0)
        #expect(TestKey.delete(tag: tag) == errSecSuccess)
        for _ in 0..<2 { #expect(try await OpenSSL.connect(server.port, file).status != 0) }
        try await server.close()
        #expect(!server.errors.isEmpty)
    }

    @Test("A public half is no key of a server")
    func publicHalf() throws {
        let half = try #require(SecKeyCopyPublicKey(TestKey.p256.make()))
        let error = #expect(throws: (any Error).self) { try NIOSSLPrivateKey(half) }
        #expect(error.flatMap(status(of:)) == errSecParam)
    }

    @Test("Keys are equal as their pairs are")
    func equality() throws {
        let (key, other) = (try TestKey.p256.make(), try TestKey.p256.make())
        #expect(try NIOSSLPrivateKey(key) == NIOSSLPrivateKey(key))
        #expect(try NIOSSLPrivateKey(key) != NIOSSLPrivateKey(other))
    }

    /// The process of the daemon, if the keychain is there.
    static let daemon = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_DAEMON"].flatMap { pid_t($0) }

    @Test("A keychain that does not answer holds up a handshake, and not the event loop", .enabled(if: daemon != nil))
    func slowKeychain() async throws {
        let daemon = try #require(Self.daemon)
        let place = try Place()
        let (server, file) = try await server(TestKey.engine.make(), .engine, place)
        // Not in a task: tests whose keys are in the daemon block the threads of tasks while it is stopped.
        let (isLoopAwake, isHeldUp, openssl) = try await onThread {
            #expect(kill(daemon, SIGSTOP) == 0)
            defer { kill(daemon, SIGCONT) }
            let client = try OpenSSL.start(OpenSSL.connection(server.port, file))
            Thread.sleep(forTimeInterval: 1)
            let answer = DispatchSemaphore(value: 0)
            TLSServer.loop.next().execute { answer.signal() }
            let isLoopAwake = answer.wait(timeout: .now() + 5) == .success
            let isHeldUp = client.process.isRunning
            kill(daemon, SIGCONT)
            return (isLoopAwake, isHeldUp, client.result())
        }
        #expect(isLoopAwake && isHeldUp)
        #expect(openssl.status == 0 && openssl.output.contains("good morning"), "\(openssl.output)")
        try await server.close()
    }

    private func connect(
        _ key: SecKey, _ kind: TestKey, _ options: [String], cipherSuites: [NIOTLSCipher]? = nil
    ) async throws -> OpenSSL {
        let place = try Place()
        let (server, file) = try await server(key, kind, place, cipherSuites: cipherSuites)
        let openssl = try await OpenSSL.connect(server.port, file, options)
        try await server.close()
        return openssl
    }

    private func server(
        _ key: SecKey, _ kind: TestKey, _ place: Place, cipherSuites: [NIOTLSCipher]? = nil
    ) async throws -> (TLSServer, String) {
        let certificate = try await Certificate.selfSigned(Certificate.PrivateKey(key), kind.certificateAlgorithm)
        let file = try place.file("certificate.pem", certificate.pem)
        return (try await TLSServer(key: NIOSSLPrivateKey(key), certificate, cipherSuites: cipherSuites), file)
    }
}

extension OpenSSL {
    static func connect(_ port: Int, _ trusted: String, _ options: [String] = []) async throws -> OpenSSL {
        try await OpenSSL(connection(port, trusted) + options)
    }

    /// Reads what the server says until it closes.
    static func connection(_ port: Int, _ trusted: String) -> [String] {
        [
            "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "localhost", "-CAfile", trusted,
            "-verify_hostname", "localhost", "-verify_return_error", "-brief", "-ign_eof",
        ]
    }
}
