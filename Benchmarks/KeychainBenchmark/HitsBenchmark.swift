internal import KeychainEngine

/// A thousand items with their secrets in one call.
struct HitsBenchmark {
    let plan: Plan
    let items: Int
    let engine: Engine
    let floor: FloorProcess

    func run() throws -> Row {
        var engineSamples: [Double] = []
        var floorSamples: [Double] = []
        for _ in 0..<plan.hits {
            engineSamples.append(try Hits(items: items, engine: engine).sample())
            floorSamples += try floor.samples(of: "hits", count: 1)
        }
        return Row(
            work: "1,000 hits with secrets, one call", items: items, unit: .microseconds,
            floor: Figure(samples: floorSamples), engine: Figure(samples: engineSamples), measure: .value,
            goal: 20_000)
    }
}

/// The engine's side of it.
struct Hits {
    let items: Int
    let engine: Engine

    func sample() throws -> Double {
        let request = SampleItem.stored(0, of: items).findServiceRequest
        let timed = try Stopwatch.time { try engine.handle(request, from: SampleItem.caller) }
        try timed.result.requireSecrets(SampleItem.perService)
        return timed.microseconds
    }
}
