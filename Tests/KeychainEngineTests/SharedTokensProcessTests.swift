import Foundation
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

@Suite("Tokens that several processes share") struct SharedTokensProcessTests {
    /// The long form alone kills programs: the others wait for each lease to run out.
    private static let killsPrograms = Effort.isFull

    @Test("A server that takes each refresh token once is shown none twice")
    func processes() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory, clock: SystemClock()))
            defer { engine.withdrawKeys() }
            let connection = Connection(engine: engine, caller: Caller(groups: ["G"]))
            let store = TokenStore(Keychain(service: "tokens").connected(connection))
            try store.save(.init(accessToken: "0", refreshToken: "0", expires: .distantPast))
            let server = ProcessTokenServer(mostRefreshes: Effort.count(20, full: 10_000))
            var random = SeededGenerator()
            let (seed, count) = (random.seed, Effort.isFull ? 2 + random.below(5) : 3)
            let serving = DispatchGroup()
            for number in 0..<count {
                serving.enter()
                // A thread for each: an agent without its answer keeps the others waiting.
                Thread.detachNewThread {
                    defer { serving.leave() }
                    do {
                        try serve(server, directory, SeededGenerator(seed: seed &+ UInt64(number)))
                    } catch {
                        server.fail("\(error)")
                    }
                }
            }
            serving.wait()
            #expect(server.failures == [], "seed \(seed)")
            #expect(try store.tokens()?.refreshToken == "\(server.present)", "seed \(seed)")
            if Effort.isFull { print("\(server.present) refreshes by \(count) processes, \(server.kills) kills") }
        }
    }

    /// One process after the other, until there were enough refreshes.
    private func serve(_ server: ProcessTokenServer, _ directory: URL, _ random: SeededGenerator) throws {
        var random = random
        // Nobody is killed in the short form, and a busy machine is no reason to ask the server twice.
        let lease = Self.killsPrograms ? "3" : "600"
        while server.isOpen {
            let agent = try AgentProcess("refresh", directory.path, "20", lease)
            var isKilled = false
            while let line = try agent.readLine() {
                if line.hasPrefix("!") {
                    server.fail(line)
                } else if Self.killsPrograms && random.below(100) == 0 {
                    // Before the server is asked: what it answered to a program that is gone nobody can have.
                    agent.kill()
                    isKilled = true
                    server.countKill()
                } else {
                    try agent.write(server.answer(to: line))
                }
            }
            if !isKilled { #expect(try agent.finish().status == 0) }
        }
    }
}

/// Takes each refresh token once.
private final class ProcessTokenServer: Sendable {
    private let mostRefreshes: Int
    private let state = Mutex((present: 0, kills: 0, failures: [String]()))

    init(mostRefreshes: Int) { self.mostRefreshes = mostRefreshes }

    var present: Int { state.withLock { $0.present } }
    var kills: Int { state.withLock { $0.kills } }
    var failures: [String] { state.withLock { $0.failures } }
    /// A failure ends the test, and does not come again and again.
    var isOpen: Bool { state.withLock { $0.present < mostRefreshes && $0.failures.isEmpty } }

    func fail(_ text: String) { state.withLock { $0.failures.append(text) } }
    func countKill() { state.withLock { $0.kills += 1 } }

    /// - Returns: The next token; an empty text for one that was shown before.
    func answer(to token: String) -> String {
        state.withLock { state in
            guard token == "\(state.present)" else { return "" }
            state.present += 1
            return "\(state.present)"
        }
    }
}
