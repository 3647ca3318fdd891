import Foundation
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

@Suite("Tokens that several processes share") struct SharedTokensProcessTests {
    @Test("A server that takes each refresh token once is shown none twice")
    func processes() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory, clock: SystemClock()))
            defer { engine.withdrawKeys() }
            let connection = Connection(engine: engine, caller: Caller(groups: ["G"]))
            let store = TokenStore(Keychain(service: "tokens").connected(connection))
            try store.save(.init(accessToken: "0", refreshToken: "0", expires: .distantPast))
            let present = Mutex(0)
            let failures = Mutex<[String]>([])
            let agents = try (0..<3).map { _ in try AgentProcess("refresh", directory.path, "20") }
            let serving = DispatchGroup()
            for agent in agents {
                serving.enter()
                // A thread for each: an agent without its answer keeps the others waiting.
                Thread.detachNewThread {
                    defer { serving.leave() }
                    do {
                        while let line = try agent.readLine() {
                            if line.hasPrefix("!") {
                                failures.withLock { $0.append(line) }
                                continue
                            }
                            let answer = present.withLock { present -> String in
                                guard line == "\(present)" else { return "" }
                                present += 1
                                return "\(present)"
                            }
                            try agent.write(answer)
                        }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
            serving.wait()
            for agent in agents { #expect(try agent.finish().status == 0) }
            #expect(failures.withLock { $0 } == [])
            let last = present.withLock { $0 }
            #expect(last >= 20)
            #expect(try store.tokens()?.refreshToken == "\(last)")
        }
    }
}
