import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport

/// What can be told of a store from outside: every item with all its bytes, which passcode opens it, and its policy.
struct Observation: Codable, Equatable {
    /// nil: there is none.
    var passcode: String?
    var idleLimit: Int?
    /// How many wrong passcodes were counted.
    var failures: Int
    var items: [String]
}

/// What another process finds in a store, and what it cannot put up with.
struct Inspection: Codable {
    var observation: Observation
    var problems: [String]
}

extension Engine {
    /// Every item with its bytes, in a fixed order.
    func everything() throws -> [String] {
        var lines: [String] = []
        for itemClass in ItemClass.allCases where itemClass != .identity {
            var query = ItemQuery(itemClass)
            query.limit = .all
            for item in try find(query) { lines.append(item.line) }
        }
        return lines.sorted()
    }

    /// Those that a query means; none is no failure.
    private func find(_ query: ItemQuery) throws -> [Item] {
        do {
            guard case .found(let items) = try handle(.find(FindRequest(query, wantsSecrets: true)), from: .owner)
            else { throw KeychainError(.internalFailure, message: "another reply") }
            return items
        } catch let error as KeychainError where error.code == .itemNotFound {
            return []
        }
    }

    func findings() throws -> [StoreFinding] {
        guard case .checked(let findings) = try handle(.check, from: .owner) else {
            throw KeychainError(.internalFailure, message: "another reply")
        }
        return findings.filter { $0.severity != .note }
    }

    func add(_ account: String, service: String = "probe", secret: String = "secret") throws {
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text(account), .service: .text(service)]
        request.secret = .of(secret)
        _ = try handle(.add(request), from: .owner)
    }

    func delete(_ account: String, service: String = "probe") throws {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text(account), .service: .text(service)]
        _ = try handle(.delete(query), from: .owner)
    }
}

extension Item {
    fileprivate var line: String {
        Self.line(
            itemClass, protection: accessControl.protection, attributes: attributes, group: accessGroup,
            secret: secret?.copyData())
    }

    /// An item with all its bytes, on one line.
    static func line(
        _ itemClass: ItemClass, protection: Protection, attributes: AttributeSet, group: String, secret: Data?
    ) -> String {
        let attributes = attributes.entries.map { "\($0.attribute)=\($0.value.text)" }.sorted()
        let secret = secret.map { $0.base64EncodedString() } ?? "none"
        return "\(itemClass) \(group) \(protection.rawValue) \(attributes.joined(separator: " ")) secret=\(secret)"
    }
}

extension AttributeValue {
    fileprivate var text: String {
        switch self {
        case .text(let text): text
        case .data(let data): data.base64EncodedString()
        case .number(let number): "\(number)"
        case .date(let date): "\(date)"
        }
    }
}

// MARK: - From outside

extension Inspection {
    /// Opens a store as a process does that knows nothing of what went before, and uses it.
    ///
    /// - Parameters:
    ///   - passcodes: Those that may open it.
    ///   - renews: Whether it is used for a renewal of keys at the end, too, and for a removal of the passcode.
    init(
        of directory: URL, passcodes: [String], usesKeyring: Bool = false, schema: StoreSchema = .current,
        renews: Bool = false
    ) throws {
        var configuration = EngineConfiguration.probe(in: directory, usesKeyring: usesKeyring)
        configuration.schema = schema
        let engine = try Engine(configuration)
        let found = try engine.lockStatus()
        observation = Observation(
            passcode: nil, idleLimit: found.idleLimit, failures: found.failedAttempts, items: [])
        problems = []
        if found.hasPasscode {
            observation.passcode = try engine.unlock(withOneOf: passcodes)
            guard observation.passcode != nil else {
                problems.append("no passcode opens it")
                return
            }
        }
        observation.items = try engine.everything()
        let findings = try engine.findings().map(\.text)
        problems += findings.filter { finding in !Self.unfinished.contains { finding.contains($0) } }
        if !findings.isEmpty { try finish(engine) }
        try writeAndRemove(engine)
        try sweep(engine, directory, passcodes)
        if renews { try renew(engine) }
        engine.prepareForExit()
    }

    /// What a store may say of itself after work was cut short: that it goes on.
    private static let unfinished = ["a renewal of all keys is not finished", "left by a removal of the passcode"]

    /// Goes on with what was cut short, as the findings advise.
    private mutating func finish(_ engine: Engine) throws {
        if observation.passcode == nil {
            try engine.setPasscode("after")
            _ = try engine.handle(.passcode(.remove(old: .of("after"))), from: .owner)
        } else {
            try engine.finishRekey(after: try engine.handle(.rekeyStep, from: .owner))
        }
        problems += try engine.findings().map { "after all was finished: \($0.text)" }
        if try engine.everything() != observation.items { problems.append("finishing it changed items") }
    }

    /// Whatever went before, keys can be renewed, and the passcode be set and removed.
    private mutating func renew(_ engine: Engine) throws {
        let present = observation.passcode ?? "renewed"
        if observation.passcode == nil { try engine.setPasscode(present) }
        try engine.changePasscode(from: present, to: "renewed", rekey: true)
        if try engine.everything() != observation.items { problems.append("a renewal of all keys changed items") }
        _ = try engine.handle(.passcode(.remove(old: .of("renewed"))), from: .owner)
        problems += try engine.findings().map { "after the passcode was removed: \($0.text)" }
    }

    private mutating func writeAndRemove(_ engine: Engine) throws {
        try engine.add("written afterwards")
        guard try engine.everything().count == observation.items.count + 1 else {
            problems.append("what was written afterwards is not there")
            return
        }
        try engine.delete("written afterwards")
    }

    /// Whatever takes the store's lock next removes what a killed writer left.
    private mutating func sweep(_ engine: Engine, _ directory: URL, _ passcodes: [String]) throws {
        let known: Set = [
            "keychain.db", "keychain.db-wal", "keychain.db-shm", "keybag", "attempts", "lock-state",
            "lock-listeners", "store.lock", "write.lock", "reserve",
        ]
        func strangers() throws -> [String] {
            let store = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/store")
            let device = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/device")
            return store.filter { !known.contains($0) } + device.filter { $0 != "device-key" }
        }
        let left = try strangers()
        if left.isEmpty { return }
        let legal: Set = ["keybag.new", "attempts.new"]
        problems += left.filter { !legal.contains($0) }.map { "it left \($0)" }
        if let passcode = observation.passcode {
            try engine.changePasscode(from: passcode, to: passcode)
        } else {
            try engine.setPasscode("swept")
            _ = try engine.handle(.passcode(.remove(old: .of("swept"))), from: .owner)
        }
        problems += try strangers().map { "the next change of the passcode left \($0)" }
    }
}

extension Engine {
    /// - Returns: nil if none is right.
    func unlock(withOneOf passcodes: [String]) throws -> String? {
        for passcode in passcodes {
            let result = Result { () throws(KeychainError) in try handle(.unlock(.of(passcode)), from: .owner) }
            if case .failure(let error) = result, error.code == .authenticationFailed { continue }
            _ = try result.get()
            return passcode
        }
        return nil
    }
}

extension EngineConfiguration {
    /// A store of the probe: each process holds the keys it unlocked, so that nothing outlives one.
    static func probe(in directory: URL, usesKeyring: Bool = false) -> EngineConfiguration {
        var configuration = EngineConfiguration.test(in: directory, usesKeyring: usesKeyring)
        configuration.rowsPerRekeyStep = 8
        // Whole stores are copied for every step.
        configuration.bytesReserved = 4 << 10
        configuration.pagesGivenBackAtOnce = 2
        return configuration
    }
}
