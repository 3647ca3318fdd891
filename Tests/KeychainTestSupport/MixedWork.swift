internal import Foundation
package import KeychainModel

/// Calls of every kind in an order that follows from a seed, on names that all workers share and on names of one's own.
///
/// Every answer is held against what the worker knows. Of its own items it knows everything, since nobody else touches
/// them; of the shared ones, that a secret and its label are always of the same write.
package struct MixedWork {
    package struct Report: Codable, Sendable {
        /// How often each kind of call got each status.
        package var statuses: [String: [Int32: Int]] = [:]
        /// Answers that the specification does not allow, or that contradict what was acknowledged.
        package var surprises: [String] = []
        /// The worker's own items as they were last acknowledged: secrets by account.
        package var own: [String: String] = [:]
        /// The longest call, in seconds.
        package var longest: Double = 0

        package init() {}

        package var count: Int { statuses.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

        package func count(of status: Int32) -> Int { statuses.values.reduce(0) { $0 + ($1[status] ?? 0) } }
    }

    private enum Call: String { case add, find, update, delete, list }

    private let handler: any RequestHandler
    private let worker: String
    /// Whether somebody locks the store now and then, so that calls may answer −25308.
    private let mayBeLocked: Bool
    private let caller: Caller
    private var generator: SeededGenerator
    private var report = Report()

    package init(
        _ handler: any RequestHandler, worker: String, seed: UInt64, mayBeLocked: Bool = false,
        caller: Caller = Caller(groups: ["G"])
    ) {
        self.handler = handler
        self.worker = worker
        self.mayBeLocked = mayBeLocked
        self.caller = caller
        generator = SeededGenerator(seed: seed)
    }

    package mutating func run(calls: Int) -> Report {
        for step in 0..<calls { perform(step) }
        return report
    }

    private mutating func perform(_ step: Int) {
        let isOwn = generator.below(2) == 0
        let account = isOwn ? "\(worker)-\(generator.below(10))" : "shared-\(generator.below(8))"
        let secret = "\(account) by \(worker) at \(step)"
        let start = ContinuousClock.now
        switch generator.below(100) {
        case ..<30: add(account, secret, isOwn)
        case ..<55: find(account, isOwn)
        case ..<80: update(account, secret, isOwn)
        case ..<95: delete(account, isOwn)
        default: list()
        }
        let time = start.duration(to: .now).components
        report.longest = max(report.longest, Double(time.seconds) + Double(time.attoseconds) / 1e18)
    }
}

// MARK: - Calls

extension MixedWork {
    private mutating func add(_ account: String, _ secret: String, _ isOwn: Bool) {
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text(account), .label: .text(secret)]
        request.secret = .of(secret)
        let (status, _) = send(.add(request), .add, allowing: [0, -25299])
        guard isOwn else { return }
        if status == 0 { expect(report.own.updateValue(secret, forKey: account) == nil, "\(account) was added twice") }
        if status == -25299 { expect(report.own[account] != nil, "\(account) is a duplicate and was not there") }
    }

    private mutating func find(_ account: String, _ isOwn: Bool) {
        let request = FindRequest(query(account), wantsSecrets: true)
        let (status, reply) = send(.find(request), .find, allowing: [0, -25300])
        if status == 0 { expect(secrets(reply).count == 1, "\(account) was not found once") }
        guard isOwn, status == 0 || status == -25300 else { return }
        expect(secrets(reply)[account] == report.own[account], "\(account) is not what was acknowledged")
    }

    private mutating func update(_ account: String, _ secret: String, _ isOwn: Bool) {
        var changes = ItemChanges()
        changes.attributes = [.label: .text(secret)]
        changes.secret = .of(secret)
        let request = UpdateRequest(query(account), changes: changes)
        let (status, _) = send(.update(request), .update, allowing: [0, -25300])
        guard isOwn, status == 0 || status == -25300 else { return }
        expect((status == 0) == (report.own[account] != nil), "the update of \(account) answers \(status)")
        if status == 0 { report.own[account] = secret }
    }

    private mutating func delete(_ account: String, _ isOwn: Bool) {
        let (status, _) = send(.delete(query(account)), .delete, allowing: [0, -25300])
        guard isOwn, status == 0 || status == -25300 else { return }
        let former = report.own.removeValue(forKey: account)
        expect((status == 0) == (former != nil), "the deletion of \(account) answers \(status)")
    }

    private mutating func list() {
        var query = ItemQuery(.genericPassword)
        query.limit = .all
        let (status, reply) = send(.find(FindRequest(query, wantsSecrets: true)), .list, allowing: [0, -25300])
        guard status == 0 || status == -25300 else { return }
        let mine = secrets(reply).filter { $0.key.hasPrefix("\(worker)-") }
        expect(mine == report.own, "the listing has other items than were acknowledged")
    }

    private func query(_ account: String) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text(account)]
        return query
    }
}

// MARK: - Answers

extension MixedWork {
    private mutating func send(_ request: Request, _ call: Call, allowing allowed: [Int32]) -> (Int32, Reply?) {
        var status: Int32 = 0
        var message = ""
        var reply: Reply?
        do throws(KeychainError) { reply = try handler.handle(request, from: caller) } catch {
            status = error.code.status
            message = error.message
        }
        report.statuses[call.rawValue, default: [:]][status, default: 0] += 1
        // To delete, no key is needed.
        let isLocked = status == -25308 && mayBeLocked && call != .delete
        expect(allowed.contains(status) || isLocked, "\(call) answers \(status): \(message)")
        return (status, reply)
    }

    /// The secrets found, by account. A secret that is not its label's was put together from two writes.
    private mutating func secrets(_ reply: Reply?) -> [String: String] {
        guard case .found(let items)? = reply else { return [:] }
        var secrets: [String: String] = [:]
        for item in items {
            guard case .text(let account)? = item.attributes[.account],
                case .text(let label)? = item.attributes[.label],
                let secret = item.secret.map({ String(decoding: $0.copyData(), as: UTF8.self) })
            else {
                expect(false, "an item is not whole")
                continue
            }
            expect(secret == label, "the secret and the label of \(account) are of two writes")
            expect(secrets.updateValue(secret, forKey: account) == nil, "\(account) is there twice")
        }
        return secrets
    }

    private mutating func expect(_ isTrue: Bool, _ surprise: @autoclosure () -> String) {
        if !isTrue && report.surprises.count < 20 { report.surprises.append(surprise()) }
    }
}
