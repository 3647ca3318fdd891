internal import Foundation

/// What whole processes cost: memory after one look-up, and the time of a command.
struct ProcessBenchmark {
    /// nil: not given, and then skipped aloud.
    struct Programs {
        var race: String?
        var keychain: String?
        var helper: String?
        var compareSecretTool: String?
    }

    let programs: Programs
    let layout: StoreLayout

    private static let memoryGoal = 40_000_000.0
    /// In microseconds.
    private static let helperGoal = 12_000.0
    private static let runs = 50

    /// A program that fails takes its own rows from the table, and not the others with it.
    func run() -> (rows: [Row], hasFailed: Bool) {
        tell("measuring whole processes")
        var rows: [Row] = []
        var hasFailed = false
        for measure in [engineMemory, command, helper, againstSecretTool] {
            do {
                rows += try measure()
            } catch {
                tell("FAILED: \(error)")
                hasFailed = true
            }
        }
        return (rows, hasFailed)
    }

    /// This program again, in a process that opens the engine and looks one item up.
    private func engineMemory() throws -> [Row] {
        let arguments = ["look-up-once", "--stores", layout.root.path, "--items", String(layout.items)]
        let figures = try numbers(try BenchmarkRun.ownProgram(arguments))
        guard figures.count == 2 else { throw BenchmarkError("look-up-once did not print two numbers") }
        return [
            row("resident memory, process that did one look-up by Engine.handle", figures[0], goal: Self.memoryGoal),
            row("… of which no part of a file", figures[1], goal: nil),
        ]
    }

    private func command() throws -> [Row] {
        guard let keychain = programs.keychain else {
            tell("SKIPPED: memory of `keychainctl get` (needs --keychain)")
            return []
        }
        let item = SampleItem.stored(layout.items / 2, of: layout.items)
        let get = [keychain, "get", "generic", "--service", item.service, "--account", item.account]
        guard let figures = try race(5, get, in: layout.engine) else { return [] }
        return [
            row("resident memory, `keychainctl get`", figures.largest, goal: Self.memoryGoal),
            Row(
                work: "whole process: `keychainctl get`", items: layout.items, unit: .microseconds, floor: nil,
                engine: figures.time, measure: .value),
        ]
    }

    /// Helpers find what is in the command's own access group, so that this takes a store of its own.
    private func helper() throws -> [Row] {
        guard let helper = programs.helper, let keychain = programs.keychain else {
            tell("SKIPPED: `keychain-secret` (needs --helper and --keychain)")
            return []
        }
        let store = FileManager.default.temporaryDirectory.appendingPathComponent("benchmark-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: store) }
        let item = ["generic", "--service", "benchmark", "--account", "one"]
        _ = try BenchmarkRun.program(keychain, ["add"] + item + ["--generate"], environment: environment(store))
        let command = [helper, "keychain-secret", "benchmark", "one"]
        guard let figures = try race(Self.runs, command, in: store) else { return [] }
        return [
            Row(
                work: "whole process: `keychain-secret`, a helper of other tools", items: 1, unit: .microseconds,
                floor: nil, engine: figures.time, measure: .value, goal: Self.helperGoal)
        ]
    }

    /// A command on a store; nil: there is nothing to race it with.
    private func race(_ count: Int, _ command: [String], in store: URL) throws -> RaceResult? {
        guard let race = programs.race else {
            tell("SKIPPED: \(command[0]) (needs --race)")
            return nil
        }
        let output = try BenchmarkRun.program(
            race, [String(count), "--"] + command, environment: environment(store))
        guard let figures = output.map(RaceResult.parse)?.first else {
            throw BenchmarkError("\(race) printed no figures")
        }
        return figures
    }

    private func environment(_ store: URL) -> [String: String] {
        [
            "KEYCHAIN_HOME": store.appendingPathComponent("store").path,
            "XDG_STATE_HOME": store.appendingPathComponent("state").path,
        ]
    }

    private func againstSecretTool() throws -> [Row] {
        guard let race = programs.race, let keychain = programs.keychain, let script = programs.compareSecretTool else {
            tell("SKIPPED: `keychainctl get` against `secret-tool` (needs --race, --keychain, --compare-secret-tool)")
            return []
        }
        let skipped: Int32 = 77
        // The script itself says what is missing.
        guard let output = try BenchmarkRun.program(script, [race, keychain, String(Self.runs)], mayEndWith: skipped)
        else { return [] }
        let results = RaceResult.parse(output)
        guard results.count == 2 else { throw BenchmarkError("\(script) did not print two lines") }
        return [
            Row(
                work: "whole process: `keychainctl get` against `secret-tool lookup` (as floor)", items: 1,
                unit: .microseconds, floor: results[1].time, engine: results[0].time, measure: .ratio, goal: 1)
        ]
    }

    private func row(_ work: String, _ bytes: Double, goal: Double?) -> Row {
        Row(
            work: work, items: layout.items, unit: .bytes, floor: nil, engine: Figure(bytes), measure: .value,
            goal: goal)
    }

    private func numbers(_ text: String?) throws -> [Double] {
        (text ?? "").split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    }
}

/// One line of what `race` prints.
struct RaceResult {
    var time: Figure
    var largest: Double

    static func parse(_ text: String) -> [RaceResult] {
        text.split(separator: "\n").compactMap { line in
            let values = line.split(separator: " ").dropFirst().compactMap { Double($0) }
            guard values.count == 3 else { return nil }
            var time = Figure(values[0])
            time.percentile99 = values[1]
            return RaceResult(time: time, largest: values[2])
        }
    }
}
