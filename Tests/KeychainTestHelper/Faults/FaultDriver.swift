import CKeychainFaults
import Foundation
import KeychainEngine
import KeychainModel

/// Runs an operation again and again, with a fault at another step each time, and judges what is left.
final class FaultDriver {
    let base: URL
    private let report: OpaquePointer
    private let shared = ForkedWork()
    private let isDurable: Bool
    private let keepsFailures: Bool
    private var references: [String: Reference] = [:]

    init(base: URL, isDurable: Bool, keepsFailures: Bool) {
        self.base = base
        self.isDurable = isDurable
        self.keepsFailures = keepsFailures
        guard let report = ckeychain_fault_report_make() else { fatalError("no shared memory") }
        self.report = report
    }

    /// What became of one operation under one fault.
    struct Summary {
        var steps = 0
        var applicable = 0
        var runs = 0
        var failures: [String] = []
    }

    /// - Parameters:
    ///   - stride: Every so many-th step only.
    ///   - step: This one alone.
    func run(_ operation: Operation, _ fault: Fault, stride: Int, step only: Int?, seed: UInt64) throws -> Summary {
        let reference = try reference(operation)
        var summary = Summary(steps: reference.kinds.count)
        var steps = reference.kinds.indices.map { $0 + 1 }
            .filter { ckeychain_fault_applies(fault.layered, reference.kinds[$0 - 1]) != 0 }
        // The power also goes when all is done.
        if fault.cutsPower { steps.append(reference.kinds.count + 1) }
        summary.applicable = steps.count
        let chosen = steps.enumerated().filter { $0.offset % stride == 0 }.map(\.element)
        for step in only.map({ [$0] }) ?? chosen {
            summary.runs += 1
            let problems = try attempt(operation, fault, step, seed &+ UInt64(step), reference)
            for problem in problems {
                let place = String(cString: ckeychain_fault_report_file(report))
                summary.failures.append(
                    "faults \(operation.name) \(fault.rawValue) --step \(step) --seed \(seed) at \(place): \(problem)")
            }
        }
        return summary
    }

    // MARK: One case

    private func attempt(
        _ operation: Operation, _ fault: Fault, _ step: Int, _ seed: UInt64, _ reference: Reference
    ) throws -> [String] {
        let directory = try copy(of: operation.template, named: "case")
        let work = FaultedWork(
            operation: operation, fault: fault, step: step, seed: seed, directory: directory, isDurable: isDurable,
            report: report)
        ckeychain_fault_report_clear(report)
        let ending = shared.run { try work.run($0, reference) }
        var problems: [String] = []
        if case .failed(let reason) = ending { problems.append("the process failed: \(reason)") }
        problems += try shared.result([String].self) ?? []
        let progress = shared.progress
        switch try inspect(directory, operation.schema) {
        case .failure(let failure):
            problems.append("afterwards \(failure.reason)")
        case .success(let inspection):
            problems += inspection.problems
            problems += judge(inspection.observation, progress, operation, fault, reference)
        }
        if keepsFailures && !problems.isEmpty {
            say("kept: \(directory.path)")
            try FileManager.default.moveItem(at: directory, to: base.appendingPathComponent("failed-\(step)"))
        }
        return problems
    }

    /// Before or after, and after if that was promised.
    private func judge(
        _ seen: Observation, _ progress: ForkedWork.Progress, _ operation: Operation, _ fault: Fault,
        _ reference: Reference
    ) -> [String] {
        var problems: [String] = []
        if progress.phase == .done && !seen.isSame(as: reference.after) {
            problems.append("what was acknowledged is lost: \(seen.difference(from: reference.after))")
        } else if !seen.isSame(as: reference.before) && !seen.isSame(as: reference.after) {
            problems.append("it is neither before nor after: \(seen.difference(from: reference.before))")
        }
        var counts: Set = [reference.after.failures]
        if progress.phase != .done {
            counts.insert(reference.before.failures)
            // What follows in the same process gives the right one.
            if fault.isRefusal { counts.insert(0) }
            if operation.triesPasscode { counts.insert(reference.before.failures + 1) }
            if operation.provesPasscode { counts.insert(0) }
        }
        if !counts.contains(seen.failures) {
            problems.append("\(seen.failures) wrong passcodes are counted, and not one of \(counts.sorted())")
        }
        return problems
    }

    /// In a process of its own, as everything that opens a store.
    private func inspect(_ directory: URL, _ schema: StoreSchema) throws -> Result<Inspection, HelperFailure> {
        let ending = shared.run { shared in
            do {
                let inspection = try Inspection(of: directory, passcodes: ["old", "new"], schema: schema, renews: true)
                try shared.leave([inspection])
            } catch let error as KeychainError {
                try shared.leave(["the store was refused: \(error)"])
            }
        }
        guard ending == .finished else { return .failure(HelperFailure("the inspection failed: \(ending)")) }
        if let found = try? shared.result([Inspection].self)?.first { return .success(found) }
        return .failure(HelperFailure(try shared.result([String].self)?.first ?? "nothing was found"))
    }

    // MARK: Stores

    private func copy(of template: Template, named name: String) throws -> URL {
        let source = base.appendingPathComponent("template-\(template.rawValue)")
        if !FileManager.default.fileExists(atPath: source.path) { try make(template, at: source) }
        let copy = base.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: copy.path) { try FileManager.default.removeItem(at: copy) }
        try FileManager.default.copyItem(at: source, to: copy)
        return copy
    }

    private func make(_ template: Template, at directory: URL) throws {
        let permissions = [FileAttributeKey.posixPermissions: 0o700]
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: permissions)
        let ending = shared.run { _ in
            try template.make(in: directory)
            // The unclosed one is left as a kill leaves it.
            if template == .unclosed { ckeychain_faults_die() }
        }
        if case .failed(let reason) = ending { throw HelperFailure("the template \(template): \(reason)") }
        switch template {
        case .halfMade: try cut("create", at: directory)
        case .halfRenewed: try cut("rekey", at: directory)
        case .nothing, .items, .passcode, .unclosed: break
        }
    }

    /// Leaves what an operation leaves that is killed two thirds of its way.
    private func cut(_ name: String, at directory: URL) throws {
        let operation = Operation.all.first { $0.name == name }!
        let steps = try reference(operation).kinds.count
        let work = FaultedWork(
            operation: operation, fault: .kill, step: steps * 2 / 3, seed: 0, directory: directory, isDurable: true,
            report: report)
        ckeychain_fault_report_clear(report)
        guard shared.run({ try work.run($0, nil) }) == .killed else {
            throw HelperFailure("\(name) was not cut short")
        }
    }

    /// The store as it is when the operation begins.
    private func prepared(_ operation: Operation) throws -> URL {
        let directory = try copy(of: operation.template, named: "before")
        let work = FaultedWork(
            operation: operation, isPreparation: true, fault: nil, step: 0, seed: 0, directory: directory,
            isDurable: true, report: report)
        guard shared.run({ try work.run($0, nil) }) == .killed else {
            throw HelperFailure("\(operation.name) cannot be prepared")
        }
        return directory
    }

    /// Found out once for each operation.
    private func reference(_ operation: Operation) throws -> Reference {
        if let known = references[operation.name] { return known }
        let before = try inspect(try prepared(operation), operation.schema).get()
        let directory = try copy(of: operation.template, named: "after")
        let work = FaultedWork(
            operation: operation, fault: nil, step: 0, seed: 0, directory: directory, isDurable: true, report: report)
        ckeychain_fault_report_clear(report)
        guard shared.run({ try work.run($0, nil) }) == .finished, shared.progress.phase == .done,
            try shared.result([String].self) == []
        else { throw HelperFailure("\(operation.name) does not even work without a fault") }
        let kinds = (1...ckeychain_fault_report_steps(report)).map { ckeychain_fault_report_kind(report, $0) }
        let after = try inspect(directory, operation.schema).get()
        guard before.problems.isEmpty && after.problems.isEmpty else {
            throw HelperFailure("\(operation.name): \(before.problems + after.problems)")
        }
        guard before.observation.isSame(as: after.observation) != operation.isVisible else {
            throw HelperFailure("\(operation.name): before and after cannot be told apart, or should not be")
        }
        let reference = Reference(before: before.observation, after: after.observation, kinds: kinds)
        references[operation.name] = reference
        return reference
    }
}

extension Observation {
    /// The count of wrong passcodes apart.
    fileprivate func isSame(as other: Observation) -> Bool {
        (passcode, idleLimit) == (other.passcode, other.idleLimit) && items == other.items
    }

    fileprivate func difference(from other: Observation) -> String {
        func short(_ lines: Set<String>) -> String { lines.map { String($0.prefix(100)) }.sorted().description }
        let (own, others) = (Set(items), Set(other.items))
        return
            "passcode \(passcode ?? "none") for \(other.passcode ?? "none"), missing \(short(others.subtracting(own))), "
            + "more \(short(own.subtracting(others)))"
    }
}
