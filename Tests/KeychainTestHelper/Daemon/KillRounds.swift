import Foundation
import Glibc
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization

/// Clients write without a pause while their daemon is killed and started anew. What was acknowledged must be there,
/// what was refused must not, and nothing may have been done twice.
final class KillRounds: Sendable {
    private static let writers = 6

    private let program: String
    private let seed: UInt64
    /// What became of an item that a writer added: each has a name that is used once.
    private struct Journal {
        var acknowledged: [String] = []
        var unknown: [String] = []
        var refused: [String] = []
        var problems: [String] = []
    }
    private let journal = Mutex(Journal())
    private let isOver = Atomic(false)

    init(program: String, seed: UInt64) {
        self.program = program
        self.seed = seed
    }

    func run(rounds: Int) throws -> Bool {
        try withTemporaryDirectory { directory in
            let daemon = DaemonProcess(URL(fileURLWithPath: program), in: directory)
            try daemon.start()
            defer { daemon.kill() }
            let start = Date()
            let (writers, socket) = (DispatchGroup(), daemon.socket)
            for number in 0..<Self.writers {
                writers.enter()
                Thread { [self] in
                    write(to: socket, number)
                    writers.leave()
                }.start()
            }
            var random = SeededGenerator(seed: seed)
            for _ in 0..<rounds {
                usleep(UInt32(10_000 + random.below(60_000)))
                daemon.kill()
                try daemon.start()
            }
            isOver.store(true, ordering: .relaxed)
            writers.wait()
            try look(at: daemon.socket)
            return report(rounds, Date().timeIntervalSince(start))
        }
    }

    private func report(_ rounds: Int, _ seconds: TimeInterval) -> Bool {
        let journal = journal.withLock { $0 }
        for problem in journal.problems.prefix(20) { say("FAILED daemon-kills, seed \(seed): \(problem)") }
        say(
            "kills rounds=\(rounds) acknowledged=\(journal.acknowledged.count) unknown=\(journal.unknown.count) "
                + "refused=\(journal.refused.count) failed=\(journal.problems.count) "
                + "seconds=\(String(format: "%.1f", seconds))")
        return journal.problems.isEmpty && !journal.acknowledged.isEmpty
    }

    private func write(to socket: String, _ number: Int) {
        let carrier = SocketCarrier(socketPath: socket)
        var count = 0
        while !isOver.load(ordering: .relaxed) {
            count += 1
            let account = "\(number)-\(count)"
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .text(account)]
            request.secret = .of(account)
            let result = Result { () throws(KeychainError) in try carrier.handle(.add(request), from: .probe) }
            journal.withLock { journal in
                switch result {
                case .success: journal.acknowledged.append(account)
                // The carrier says whether it was sent.
                case .failure(let error) where error.code == .notAvailable && error.message.contains("is not known"):
                    journal.unknown.append(account)
                case .failure(let error) where error.code == .notAvailable: journal.refused.append(account)
                case .failure(let error) where error.code == .duplicateItem:
                    journal.problems.append("\(account) was added twice")
                case .failure(let error): journal.problems.append("\(account): \(error)")
                }
            }
        }
    }

    private func look(at socket: String) throws {
        var query = ItemQuery(.genericPassword)
        query.limit = .all
        let request = Request.find(FindRequest(query, wantsSecrets: true))
        guard case .found(let items) = try SocketCarrier(socketPath: socket).handle(request, from: .probe) else {
            throw HelperFailure("another reply")
        }
        var present: Set<String> = []
        journal.withLock { journal in
            for item in items {
                guard case .text(let account)? = item.attributes[.account] else { continue }
                if item.secret?.copyData() != Data(account.utf8) {
                    journal.problems.append("\(account) has another secret")
                }
                if !present.insert(account).inserted { journal.problems.append("\(account) is there twice") }
            }
            for account in Set(journal.acknowledged).subtracting(present).prefix(5) {
                journal.problems.append("\(account) was acknowledged and is gone")
            }
            for account in present.intersection(journal.refused).prefix(5) {
                journal.problems.append("\(account) was called not sent and is there")
            }
            for account in present.subtracting(journal.acknowledged).subtracting(journal.unknown).prefix(5) {
                journal.problems.append("\(account) is there and nobody added it")
            }
        }
    }
}
