import CKeychainFaults
import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport

/// What is known of an operation from runs in which nothing failed.
struct Reference {
    let before: Observation
    let after: Observation
    /// What each step is.
    let kinds: [ckeychain_step]
}

/// One operation with one fault at one step, in a process of its own.
struct FaultedWork {
    /// What a call may say that met a fault: no space, input or output, keychain not available.
    private static let legalStatuses: Set<Int32> = [-34, -36, -25291]

    let operation: Operation
    /// Whether only what comes before the operation is done, to see what it begins with.
    var isPreparation = false
    /// nil: nothing fails.
    let fault: Fault?
    let step: Int
    let seed: UInt64
    let directory: URL
    /// false: nothing is ever synced, so that what was acknowledged must get lost. The positive control.
    let isDurable: Bool
    let report: OpaquePointer

    /// - Parameter reference: nil while it is being found out.
    func run(_ shared: ForkedWork, _ reference: Reference?) throws {
        let plan = ckeychain_fault_plan(
            fault: fault?.layered ?? CKEYCHAIN_FAULT_NONE, step: Int64(step), seed: seed,
            keeps_shared_memory: fault?.keepsSharedMemory(seed: seed) == true ? 1 : 0)
        ckeychain_faults_begin(directory.path, plan, report)
        var configuration = EngineConfiguration.probe(in: directory)
        configuration.files = FaultyFiles(syncs: isDurable)
        configuration.randomness = SeededRandomness(seed: 1)
        configuration.isDurable = isDurable
        configuration.schema = operation.schema
        var engine = try operation.prepare?(configuration)
        ckeychain_faults_arm()
        if isPreparation { ckeychain_faults_die() }
        var problems: [String] = []
        try perform(&engine, configuration, shared, &problems)
        if let reference, fault?.isRefusal == true, ckeychain_fault_report_is_reached(report) != 0 {
            try lookAgain(&engine, configuration, shared.progress.phase, reference, &problems)
        }
        engine?.prepareForExit()
        engine = nil
        ckeychain_faults_disarm()
        try shared.leave(problems)
        if fault?.cutsPower == true { ckeychain_faults_cut_power() }
    }

    private func perform(
        _ engine: inout Engine?, _ configuration: EngineConfiguration, _ shared: ForkedWork, _ problems: inout [String]
    ) throws {
        shared.progress.phase = .within
        do {
            engine = try operation.perform(engine, configuration)
            shared.progress.phase = .done
            try operation.afterwards(engine!)
        } catch let error as KeychainError {
            if shared.progress.phase == .within { shared.progress = .init(phase: .refused, status: error.code.status) }
            if fault?.isRefusal != true || !Self.legalStatuses.contains(error.code.status) {
                problems.append("it was refused with: \(error)")
            }
        }
    }

    // MARK: In the same process, after a call has failed

    /// What the process sees then is the store before or after, and it can go on.
    private func lookAgain(
        _ engine: inout Engine?, _ configuration: EngineConfiguration, _ phase: ForkedWork.Progress.Phase,
        _ reference: Reference, _ problems: inout [String]
    ) throws {
        if engine == nil {
            // Where nothing can be written, a store cannot be made.
            guard fault?.failsOnce == true else { return }
            engine = try Engine(configuration)
        }
        guard let engine else { return }
        do {
            let items = try readable(engine, &problems)
            let legal = phase == .done ? [reference.after.items] : [reference.before.items, reference.after.items]
            if let items, !legal.contains(items) { problems.append("the same process saw other items") }
            guard fault?.failsOnce == true, let items else { return }
            try engine.add("in the same process")
            if try engine.everything().count != items.count + 1 {
                problems.append("what the same process wrote afterwards is not there")
            }
            try engine.delete("in the same process")
        } catch let error as KeychainError {
            problems.append("the same process was then refused with: \(error)")
        }
    }

    /// Every item; nil if they cannot be read, and need not be.
    private func readable(_ engine: Engine, _ problems: inout [String]) throws -> [String]? {
        do {
            let items = try engine.everything()
            if operation.name == "lock" { problems.append("what was locked could still be read") }
            return items
        } catch let error as KeychainError where error.code == .interactionNotAllowed {
            // Not opened yet, or locked by what was done. A passcode brings the keys back, where they can be kept.
            if fault?.failsOnce != true { return nil }
            guard try engine.unlock(withOneOf: ["old", "new"]) != nil else {
                problems.append("no passcode opened it in the same process")
                return nil
            }
            return try engine.everything()
        }
    }
}
