internal import KeychainEngine
internal import KeychainModel

/// One secret by account and service, random ones of all.
struct LookUpBenchmark {
    let plan: Plan
    let items: Int
    let engine: Engine
    let floor: FloorProcess

    func run() throws -> Row {
        var random = RandomNumbers()
        var engineSamples: [Double] = []
        var floorSamples: [Double] = []
        let count = plan.lookUps / plan.batches
        // The first batch of each fills caches and is not counted.
        for batch in 0...plan.batches {
            let ours = try LookUps(items: items, engine: engine).samples(count, &random)
            let theirs = try floor.samples(of: "lookup", count: count)
            if batch == 0 { continue }
            engineSamples += ours
            floorSamples += theirs
        }
        return Row(
            work: "look-up with secret", items: items, unit: .microseconds, floor: Figure(samples: floorSamples),
            engine: Figure(samples: engineSamples), measure: .ratio, goal: 2.0)
    }
}

/// The engine's side of it.
struct LookUps {
    let items: Int
    let engine: Engine

    func samples(_ count: Int, _ random: inout RandomNumbers) throws -> [Double] {
        try (0..<count).map { _ in
            let item = SampleItem.stored(random.number(below: items), of: items)
            let request = item.findRequest
            let timed = try Stopwatch.time { try engine.handle(request, from: SampleItem.caller) }
            try timed.result.requireSecrets(1)
            return timed.microseconds
        }
    }
}

extension Reply {
    /// - Throws: If these are not that many items with the secrets they were stored with.
    func requireSecrets(_ count: Int) throws {
        guard case .found(let found) = self, found.count == count,
            found.allSatisfy({ $0.secret?.count == SampleItem.secretCount })
        else { throw BenchmarkError("the engine did not find exactly \(count) items with their secrets") }
    }
}
