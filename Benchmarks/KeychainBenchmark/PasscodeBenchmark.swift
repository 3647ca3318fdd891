internal import Foundation
internal import KeychainCrypto
internal import KeychainEngine
internal import KeychainModel

/// Unlocking and changing the passcode, less what scrypt takes of it: that is meant to be slow.
struct PasscodeBenchmark {
    let count: Int
    let items: Int
    let engine: Engine

    static let unlockGoal = 5_000.0
    static let changeGoal = 20_000.0

    func run() throws -> [Row] {
        var passcodes = Passcodes()
        let derivation = try Derivation()
        var unlocks: [Double] = []
        var changes: [Double] = []
        var single: [Double] = []
        var double: [Double] = []
        // In turn, because the memory that scrypt fills makes its time swing more than the rest takes.
        for _ in 0..<count {
            try engine.ask(.lock(.now))
            unlocks.append(try Stopwatch.time { try engine.ask(.unlock(passcodes.present)) }.microseconds)
            single.append(try derivation.sample(times: 1))
            changes.append(try PasscodeChange.sample(&passcodes, engine))
            double.append(try derivation.sample(times: 2))
        }
        // The store is to have the passcode it came with.
        if !count.isMultiple(of: 2) { _ = try PasscodeChange.sample(&passcodes, engine) }
        return [
            Row(
                work: "unlock, less one derivation (as floor)", items: items, unit: .microseconds,
                floor: Figure(samples: single), engine: Figure(samples: unlocks), measure: .difference,
                goal: Self.unlockGoal),
            Row(
                work: "passcode change, less two derivations (as floor)", items: items, unit: .microseconds,
                floor: Figure(samples: double), engine: Figure(samples: changes), measure: .difference,
                goal: Self.changeGoal),
        ]
    }
}

enum PasscodeChange {
    static func sample(_ passcodes: inout Passcodes, _ engine: Engine) throws -> Double {
        let request = PasscodeRequest.change(old: passcodes.present, new: passcodes.next, rekey: false)
        defer { passcodes.advance() }
        return try Stopwatch.time { try engine.ask(.passcode(request)) }.microseconds
    }
}

/// A passcode turned into a key, with the parameters of a new store, and nothing else.
private struct Derivation {
    private let parameters: PasscodeParameters
    private let deviceKey: KeyMaterial

    init() throws {
        parameters = try PasscodeParameters.make(
            cost: PasscodeParameters.defaultCost, randomness: SystemRandomness())
        deviceKey = try KeyMaterial(from: SystemRandomness())
    }

    func sample(times: Int) throws -> Double {
        try Stopwatch.time {
            for _ in 0..<times {
                _ = try PasscodeKey(Passcodes.first, parameters, storeID: UUID(), deviceKey: deviceKey)
            }
        }.microseconds
    }
}

/// The same with a passcode whose derivation takes no time (N = 2), and locking, to which it makes no difference.
struct BarePasscodeBenchmark {
    let count: Int
    let items: Int
    let engine: Engine

    /// So many items are added before a lock that finds something to do.
    private static let adds = 100

    func run(_ passcodes: inout Passcodes) throws -> [Row] {
        var locks: [Double] = []
        var unlocks: [Double] = []
        var changes: [Double] = []
        for _ in 0..<count {
            locks.append(try lock())
            unlocks.append(try Stopwatch.time { try engine.ask(.unlock(passcodes.present)) }.microseconds)
            changes.append(try PasscodeChange.sample(&passcodes, engine))
        }
        return [
            row("unlock without derivation", unlocks, goal: PasscodeBenchmark.unlockGoal),
            row("lock", locks, goal: 5_000),
            row("lock in a process that has just added \(Self.adds) items", try locksAfterAdds(passcodes), goal: nil),
            row("passcode change without derivations", changes, goal: PasscodeBenchmark.changeGoal),
        ]
    }

    private func row(_ work: String, _ samples: [Double], goal: Double?) -> Row {
        Row(
            work: work, items: items, unit: .microseconds, floor: nil, engine: Figure(samples: samples),
            measure: .value, goal: goal)
    }

    private func lock() throws -> Double { try Stopwatch.time { try engine.ask(.lock(.now)) }.microseconds }

    /// Locking also empties the log of the process that locks.
    private func locksAfterAdds(_ passcodes: Passcodes) throws -> [Double] {
        let adds = Adds(engine: engine)
        return try (0..<max(1, count / 5)).map { _ in
            _ = try adds.samples(0..<Self.adds)
            let time = try lock()
            try engine.ask(.unlock(passcodes.present))
            try adds.forget()
            return time
        }
    }
}
