internal import KeychainEngine

/// Adds that are on the disk when they are reported, one transaction each.
struct AddBenchmark {
    let plan: Plan
    let layout: StoreLayout
    let floor: FloorProcess

    func run() throws -> [Row] {
        let floorStart = try floor.checkpoint()
        let engineStart = try ProcessFigures.bytesWritten()
        let samples = try addInTurn()
        // The engine has gone by now, and its log with it: every byte that a checkpoint copies has been written.
        let engineBytes = try ProcessFigures.bytesWritten() - engineStart
        let floorBytes = try floor.checkpoint() - floorStart
        try forget()
        return [
            Row(
                work: "durable add", items: layout.items, unit: .microseconds, floor: Figure(samples: samples.floor),
                engine: Figure(samples: samples.engine), measure: .ratio, goal: 1.5),
            Row(
                work: "written per add", items: layout.items, unit: .bytes, floor: Figure(floorBytes / Double(count)),
                engine: Figure(engineBytes / Double(count)), measure: .value, goal: 64_000),
        ]
    }

    private var perBatch: Int { plan.adds / plan.batches }
    private var count: Int { perBatch * plan.batches }

    private func addInTurn() throws -> (engine: [Double], floor: [Double]) {
        let engine = try makeEngine(directory: layout.engine, durable: true)
        var samples: (engine: [Double], floor: [Double]) = ([], [])
        for batch in 0..<plan.batches {
            samples.engine += try add(batch * perBatch..<(batch + 1) * perBatch, to: engine)
            samples.floor += try floor.samples(of: "add", count: perBatch)
        }
        return samples
    }

    private func add(_ numbers: Range<Int>, to engine: Engine) throws -> [Double] {
        try numbers.map { number in
            let request = SampleItem.added(number).addRequest
            return try Stopwatch.time { try engine.handle(request, from: SampleItem.caller) }.microseconds
        }
    }

    /// Leaves both stores as they were filled.
    private func forget() throws {
        let engine = try makeEngine(directory: layout.engine, durable: false)
        _ = try engine.handle(SampleItem.added(0).deleteServiceRequest, from: SampleItem.caller)
        try floor.forget()
    }
}
